-- Rows of one station and fuel do not overlap, and each has a positive duration.
select station_id, fuel, valid_from_at, valid_until_at, next_from
from (
  select
    station_id, fuel, valid_from_at, valid_until_at,
    lead(valid_from_at) over (partition by station_id, fuel order by valid_from_at) as next_from
  from {{ source('fuel_v1', 'price_history') }}
  where {{ var('price_history_where') }}
) as spans
where valid_until_at <= valid_from_at
  or next_from < coalesce(valid_until_at, 'infinity')
