{% test unique_together(model, columns) %}
{# No two rows have the same values in all the columns. NULL equals NULL. #}
select {{ columns | join(', ') }}, count(*) as how_many
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1
{% endtest %}
