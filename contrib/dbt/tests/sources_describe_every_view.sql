-- fuel_v1 has exactly the views and columns of models/sources.yml. Only a warning, because a newer Bowser may have
-- added some.
{{ config(severity='warn') }}
{% set described = [] %}
{% if execute %}
  {% for table in graph.sources.values() if table.source_name == 'fuel_v1' %}
    {% for column in table.columns.values() %}
      {% do described.append("('" ~ table.name ~ "', '" ~ column.name ~ "')") %}
    {% endfor %}
  {% endfor %}
{% endif %}
with described (view_name, column_name) as (
  values {{ described | join(', ') or "('', '')" }}
),

present (view_name, column_name) as (
  select view.relname::text, attribute.attname::text
  from pg_class as view
  join pg_attribute as attribute on attribute.attrelid = view.oid
  where view.relnamespace = 'fuel_v1'::regnamespace
    and view.relkind = 'v'
    and attribute.attnum > 0
    and not attribute.attisdropped
)

select view_name, column_name
from present
full join described using (view_name, column_name)
where present.view_name is null or described.view_name is null
