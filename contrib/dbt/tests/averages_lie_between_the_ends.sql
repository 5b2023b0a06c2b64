select region, fuel, day, min_cpl, p25_cpl, median_cpl, average_cpl, max_cpl
from {{ source('fuel_v1', 'daily_averages') }}
where not (
  min_cpl <= p25_cpl and p25_cpl <= median_cpl and median_cpl <= max_cpl
  and average_cpl between min_cpl and max_cpl)
