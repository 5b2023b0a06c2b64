-- Brands with at least three stations in the region, as averages require too.
select
  comparison.region,
  comparison.fuel,
  station.brand,
  count(*)::integer as stations,
  round(avg(comparison.price_cpl), 2) as average_cpl,
  min(comparison.region_average_cpl) as region_average_cpl,
  round(avg(comparison.difference_cpl), 2) as premium_cpl,
  round(avg((comparison.rank_in_region = 1)::integer), 3) as cheapest_share
from {{ source('fuel_v1', 'station_comparison') }} as comparison
join {{ source('fuel_v1', 'stations') }} as station using (station_id)
where station.brand is not null
group by comparison.region, comparison.fuel, station.brand
having count(*) >= 3
