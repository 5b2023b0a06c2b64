-- The present verdict is in the history of given verdicts, unless it has lapsed.
select region, fuel, computed_at, verdict
from {{ source('fuel_v1', 'fill_up') }} as present
where not exists (
  select
  from {{ source('fuel_v1', 'fill_up_history') }} as given
  where given.region = present.region
    and given.fuel = present.fuel
    and given.computed_at = present.computed_at
    and (given.verdict = present.verdict or present.basis = 'insufficient_data'))
