-- received = stored + unchanged + duplicate + rejected
select run_id, received, stored, unchanged, duplicate, rejected
from {{ source('fuel_v1', 'ingest_runs') }}
where received <> stored + unchanged + duplicate + rejected
