CREATE OR REPLACE VIEW fuel_v1.current_prices AS
SELECT
  station.station_id,
  fuel.fuel,
  station.state,
  station.name,
  coalesce(brand_name.brand, station.brand) AS brand,
  station.suburb,
  station.postcode,
  station.latitude,
  station.longitude,
  station.is_public,
  (price_now.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  (price_now.next_tenths / 10.0)::numeric(5, 1) AS next_price_cpl,
  price_now.is_fresh,
  price_now.is_flagged,
  price_now.flag_reason,
  (extract(epoch FROM price_now.delay) / 3600)::integer AS delay_hours,
  price_now.effective_at,
  price_now.confirmed_at,
  price_now.next_effective_at
FROM fuel.price_now
JOIN fuel.station USING (station_id)
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN fuel.brand_name
  ON brand_name.written = lower(station.brand)
  AND brand_name.valid_from <= (fuel.clock() AT TIME ZONE station.time_zone)::date
  AND brand_name.valid_to > (fuel.clock() AT TIME ZONE station.time_zone)::date
WHERE price_now.price_tenths > 0
  AND price_now.lapses_at > price_now.now_at - fuel.dormant_after();
COMMENT ON VIEW fuel_v1.current_prices IS
  'The price in effect now. One row per station and fuel on offer. Stale and doubtful prices are '
  'included and marked; averages leave them out.';
COMMENT ON COLUMN fuel_v1.current_prices.station_id        IS 'The station.';
COMMENT ON COLUMN fuel_v1.current_prices.fuel              IS 'Fuel code, such as U91.';
COMMENT ON COLUMN fuel_v1.current_prices.state             IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.current_prices.name              IS 'Trading name; NULL until described.';
COMMENT ON COLUMN fuel_v1.current_prices.brand             IS 'Brand; NULL: none named.';
COMMENT ON COLUMN fuel_v1.current_prices.suburb            IS 'Suburb or town; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.postcode          IS 'Postcode; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.latitude          IS 'Degrees; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.longitude         IS 'Degrees; NULL: not stated.';
COMMENT ON COLUMN fuel_v1.current_prices.is_public         IS 'False: members or permit holders only; left out of averages.';
COMMENT ON COLUMN fuel_v1.current_prices.price_cpl         IS 'Price in effect, cents per litre.';
COMMENT ON COLUMN fuel_v1.current_prices.next_price_cpl    IS 'The next price, cents per litre; NULL: not known.';
COMMENT ON COLUMN fuel_v1.current_prices.is_fresh          IS 'Whether it was reported recently enough to be believed.';
COMMENT ON COLUMN fuel_v1.current_prices.is_flagged        IS 'Whether it is doubtful and not yet confirmed.';
COMMENT ON COLUMN fuel_v1.current_prices.flag_reason       IS 'Why it is doubtful: far (from the station''s own prices and its neighbours'') or placeholder (one price for every grade of petrol); NULL: it is not doubtful.';
COMMENT ON COLUMN fuel_v1.current_prices.delay_hours       IS 'How late its state publishes prices, in hours: 24 in Victoria, whose prices are a day old; 0: without delay.';
COMMENT ON COLUMN fuel_v1.current_prices.effective_at      IS 'Since when it holds without a change.';
COMMENT ON COLUMN fuel_v1.current_prices.confirmed_at      IS 'When a feed last reported it, less delay_hours. Where lists are not complete, as in WA, when it was first reported, which may be before effective_at.';
COMMENT ON COLUMN fuel_v1.current_prices.next_effective_at IS 'When the next price begins; NULL: not known.';

CREATE OR REPLACE VIEW fuel_v1.tomorrow_prices AS
SELECT
  station.station_id,
  fuel.fuel,
  station.state,
  (today.price_tenths / 10.0)::numeric(5, 1) AS today_cpl,
  (price_now.next_tenths / 10.0)::numeric(5, 1) AS tomorrow_cpl,
  ((price_now.next_tenths - today.price_tenths) / 10.0)::numeric(5, 1) AS change_cpl,
  CASE
    WHEN price_now.next_tenths > today.price_tenths THEN 'dearer'
    WHEN price_now.next_tenths < today.price_tenths THEN 'cheaper'
    WHEN price_now.next_tenths = today.price_tenths THEN 'same'
  END AS comparison,
  price_now.next_effective_at AS effective_at
FROM fuel.price_now
JOIN fuel.station USING (station_id)
JOIN fuel.fuel USING (fuel_id)
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN price_now.is_fresh AND price_now.price_tenths > 0 THEN price_now.price_tenths
  END AS price_tenths
) AS today
WHERE price_now.next_tenths > 0;
COMMENT ON VIEW fuel_v1.tomorrow_prices IS
  'Today''s price and the next one. One row per station and fuel whose next price is known.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.station_id   IS 'The station.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.fuel         IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.state        IS 'State or territory.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.today_cpl    IS 'Price in effect now, cents per litre; NULL: no price today.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.tomorrow_cpl IS 'The next price, cents per litre.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.change_cpl   IS 'tomorrow_cpl minus today_cpl, cents per litre; NULL: no price today.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.comparison   IS 'dearer, cheaper or same; NULL: no price today.';
COMMENT ON COLUMN fuel_v1.tomorrow_prices.effective_at IS 'When the next price begins.';

-- The index leads to the spans of a station in one step. A bound on valid_from_at leaves out the years outside it.
CREATE OR REPLACE VIEW fuel_v1.price_history AS
SELECT
  held.station_id,
  fuel.fuel,
  (held.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  held.doubt IS NOT NULL AS is_flagged,
  held.doubt AS flag_reason,
  source.source,
  held.from_at AS valid_from_at,
  CASE WHEN held.until_at <= clock.now_at THEN held.until_at END AS valid_until_at,
  held.learnt_at
FROM fuel.believed AS held
JOIN fuel.fuel USING (fuel_id)
JOIN fuel.source ON source.source_id = held.source_id
-- OFFSET 0 keeps the server from merging the subquery, so that the clock is read once and not for every price.
CROSS JOIN (SELECT fuel.clock() AS now_at OFFSET 0) AS clock
WHERE held.from_at <= clock.now_at AND held.from_at < held.until_at;
COMMENT ON VIEW fuel_v1.price_history IS
  'What each station charged from when to when. One row per station, fuel and validity span of a price; '
  'rows of one station and fuel do not overlap. Filter by station or by valid_from_at, or use '
  'prices_between for a window: without a filter this is the whole history.';
COMMENT ON COLUMN fuel_v1.price_history.station_id     IS 'The station.';
COMMENT ON COLUMN fuel_v1.price_history.fuel           IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.price_history.price_cpl      IS 'Cents per litre.';
COMMENT ON COLUMN fuel_v1.price_history.is_flagged     IS 'Whether it is doubtful, or was for a time.';
COMMENT ON COLUMN fuel_v1.price_history.flag_reason    IS 'Why: far (from the station''s own prices and its neighbours'') or placeholder; NULL: it is not doubtful.';
COMMENT ON COLUMN fuel_v1.price_history.source         IS 'The feed or archive that reported its beginning.';
COMMENT ON COLUMN fuel_v1.price_history.valid_from_at  IS 'When it began.';
COMMENT ON COLUMN fuel_v1.price_history.valid_until_at IS 'When it ended: the price changed, was withdrawn or became too old to be believed; NULL: it still holds.';
COMMENT ON COLUMN fuel_v1.price_history.learnt_at      IS 'When the newest report of this price was fetched; of an archive, when the price of that report began. A source may report a price again and again, so this is not when it was first known: see finished_at of changes.';

CREATE OR REPLACE VIEW fuel_v1.price_changes AS
SELECT
  held.station_id,
  fuel.fuel,
  (before.price_tenths / 10.0)::numeric(5, 1) AS before_cpl,
  (held.price_tenths / 10.0)::numeric(5, 1) AS after_cpl,
  ((held.price_tenths - before.price_tenths) / 10.0)::numeric(5, 1) AS step_cpl,
  held.doubt IS NOT NULL AS is_flagged,
  -- A subquery keeps the number of joined relations low. Where a view is joined to another one, the server searches for
  -- the best join order among at most eight relations.
  (SELECT source.source FROM fuel.source WHERE source.source_id = held.source_id) AS source,
  held.from_at AS changed_at
FROM fuel.span AS held
JOIN fuel.fuel USING (fuel_id)
LEFT JOIN LATERAL (
  SELECT span.price_tenths, span.until_at
  FROM fuel.span
  WHERE span.station_id = held.station_id
    AND span.fuel_id = held.fuel_id
    AND span.from_at < held.from_at
  ORDER BY span.from_at DESC
  LIMIT 1
) AS earlier ON true
-- After a gap the price just before the change is not known. This is a CASE and not a join condition, which the server
-- would expect to be true of few rows.
CROSS JOIN LATERAL (
  SELECT CASE WHEN earlier.until_at = held.from_at THEN earlier.price_tenths END AS price_tenths
) AS before
-- A price that was too old when it was first reported is not a price change.
WHERE held.from_at <= fuel.clock() AND held.from_at < held.lapses_at;
COMMENT ON VIEW fuel_v1.price_changes IS
  'Every change of a station''s price, with the price before. One row per station, fuel and change. Always filter by '
  'station or by changed_at.';
COMMENT ON COLUMN fuel_v1.price_changes.station_id IS 'The station.';
COMMENT ON COLUMN fuel_v1.price_changes.fuel       IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.price_changes.before_cpl IS 'The price before, cents per litre; NULL: no price was believed.';
COMMENT ON COLUMN fuel_v1.price_changes.after_cpl  IS 'The new price, cents per litre.';
COMMENT ON COLUMN fuel_v1.price_changes.step_cpl   IS 'The new price minus the price before, cents per litre; NULL: no price was believed before.';
COMMENT ON COLUMN fuel_v1.price_changes.is_flagged IS 'Whether the new price is doubtful, or was for a time.';
COMMENT ON COLUMN fuel_v1.price_changes.source     IS 'The feed or archive that reported it.';
COMMENT ON COLUMN fuel_v1.price_changes.changed_at IS 'When the new price began.';

CREATE OR REPLACE VIEW fuel_v1.station_comparison AS
SELECT
  price.station_id,
  price.region,
  price.fuel,
  (price.price_tenths / 10.0)::numeric(5, 1) AS price_cpl,
  (CASE WHEN count(*) OVER market >= fuel.minimum_stations()
    THEN avg(price.price_tenths) OVER market / 10
  END)::numeric(6, 2) AS region_average_cpl,
  (CASE WHEN count(*) OVER market >= fuel.minimum_stations()
    THEN (price.price_tenths - avg(price.price_tenths) OVER market) / 10
  END)::numeric(6, 2) AS difference_cpl,
  (rank() OVER market)::integer AS rank_in_region,
  (count(*) OVER market)::integer AS stations
FROM (
  SELECT
    present.station_id,
    region_station.region,
    fuel.fuel,
    present.price_tenths
  FROM fuel.fuel
  -- Fuel by fuel, so that a single fuel is found by its index. OFFSET 0 keeps the server from merging the subquery. The
  -- server cannot estimate how many prices count, and would compare every price with every station.
  CROSS JOIN LATERAL (
    SELECT price_now.station_id, price_now.price_tenths, price_now.is_counted, price_now.delay
    FROM fuel.price_now
    WHERE price_now.fuel_id = fuel.fuel_id
    OFFSET 0
  ) AS present
  JOIN fuel.region_station USING (station_id)
  JOIN fuel.region_delay USING (region)
  -- One condition, of which the server expects half of the rows to pass. Of two conditions it would expect too few.
  WHERE CASE WHEN present.is_counted THEN present.delay <= region_delay.delay END
    AND fuel.is_averaged
) AS price
-- One window for all columns, so that the prices are sorted and read once.
WINDOW market AS (
  PARTITION BY price.fuel, price.region ORDER BY price.price_tenths
  ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING);
COMMENT ON VIEW fuel_v1.station_comparison IS
  'The price of a station compared with its region. One row per station, region that it is in, and fuel.';
COMMENT ON COLUMN fuel_v1.station_comparison.station_id         IS 'The station.';
COMMENT ON COLUMN fuel_v1.station_comparison.region             IS 'The region it is compared with.';
COMMENT ON COLUMN fuel_v1.station_comparison.fuel               IS 'Fuel code.';
COMMENT ON COLUMN fuel_v1.station_comparison.price_cpl          IS 'Price in effect, cents per litre.';
COMMENT ON COLUMN fuel_v1.station_comparison.region_average_cpl IS 'Mean of the region, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.station_comparison.difference_cpl     IS 'Price of the station minus the mean, cents per litre; NULL below three stations.';
COMMENT ON COLUMN fuel_v1.station_comparison.rank_in_region     IS '1 is the cheapest; equal prices share a rank.';
COMMENT ON COLUMN fuel_v1.station_comparison.stations           IS 'Number of stations that are compared.';

CREATE OR REPLACE VIEW fuel_v1.fuels AS
SELECT
  fuel.fuel,
  fuel.name,
  fuel.unit,
  fuel.is_averaged,
  fuel.is_mapped
FROM fuel.fuel;
COMMENT ON VIEW fuel_v1.fuels IS 'The fuel codes. One row per fuel.';
COMMENT ON COLUMN fuel_v1.fuels.fuel        IS 'Code, such as U91.';
COMMENT ON COLUMN fuel_v1.fuels.name        IS 'Name of the fuel.';
COMMENT ON COLUMN fuel_v1.fuels.unit        IS 'What a price is for, such as litre; unknown where no unit is stated.';
COMMENT ON COLUMN fuel_v1.fuels.is_averaged IS 'Whether averages, trends and verdicts are computed for it.';
COMMENT ON COLUMN fuel_v1.fuels.is_mapped   IS 'Whether its meaning is known; if not, it is a feed''s code that nobody has mapped yet.';
