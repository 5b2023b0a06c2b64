-- Uses complete price days only. A week begins on Monday.
with weeks as (
  select
    region,
    state,
    fuel,
    date_trunc('week', day)::date as week_starts_on,
    round(avg(average_cpl), 2) as average_cpl,
    min(average_cpl) as cheapest_day_cpl,
    (array_agg(day order by average_cpl, day))[1] as cheapest_on,
    max(average_cpl) as dearest_day_cpl,
    count(*)::integer as days
  from {{ source('fuel_v1', 'daily_averages') }}
  where is_complete and average_cpl is not null
  group by region, state, fuel, week_starts_on
)

select
  weeks.*,
  weeks.average_cpl - before.average_cpl as change_cpl
from weeks
left join weeks as before
  on before.region = weeks.region
  and before.fuel = weeks.fuel
  and before.week_starts_on = weeks.week_starts_on - 7
