-- Rows of one station and fuel do not overlap, and each has a positive duration.
select station_id, fuel, valid_from, valid_to, next_from
from (
  select
    station_id, fuel, valid_from, valid_to,
    lead(valid_from) over (partition by station_id, fuel order by valid_from) as next_from
  from {{ source('fuel_v1', 'price_history') }}
  where {{ var('price_history_where') }}
) as spans
where valid_to <= valid_from
  or next_from < coalesce(valid_to, 'infinity')
