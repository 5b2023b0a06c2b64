-- Compares the last verdict of each day with the daily averages of the three days after it.
with last_verdicts as (
  select distinct on (region, fuel, day)
    region, fuel, day, verdict, expected_saving_cpl
  from {{ source('fuel_v1', 'fill_up_history') }}
  where basis <> 'insufficient_data'
  order by region, fuel, day, computed_at desc
),

averages as (
  select region, fuel, day, average_cpl
  from {{ source('fuel_v1', 'daily_averages') }}
  where is_complete and average_cpl is not null
),

outcomes as (
  select
    given.region,
    given.fuel,
    given.day,
    given.verdict,
    given.expected_saving_cpl,
    today.average_cpl - min(later.average_cpl) as fall_cpl,
    max(later.average_cpl) - today.average_cpl as rise_cpl
  from last_verdicts as given
  join averages as today using (region, fuel, day)
  join averages as later
    on later.region = given.region
    and later.fuel = given.fuel
    and later.day between given.day + 1 and given.day + 3
  group by given.region, given.fuel, given.day, given.verdict, given.expected_saving_cpl, today.average_cpl
  having count(*) = 3
)

select
  region,
  fuel,
  verdict,
  count(*)::integer as days,
  round(avg((case verdict
    when 'wait' then fall_cpl >= 1
    when 'fill_up' then fall_cpl < 1
    else fall_cpl <= 3 and rise_cpl <= 3
  end)::integer), 3) as right_share,
  round(avg(fall_cpl), 2) as mean_fall_cpl,
  round(avg(rise_cpl), 2) as mean_rise_cpl,
  round(avg(expected_saving_cpl), 2) as mean_expected_saving_cpl,
  min(day) as from_day,
  max(day) as until_day
from outcomes
group by region, fuel, verdict
