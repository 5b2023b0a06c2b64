{% test in_range(model, column_name, lowest=none, highest=none) %}
{# Every value lies between lowest and highest, both included. NULL passes. #}
select {{ column_name }}
from {{ model }}
where false
{%- if lowest is not none %} or {{ column_name }} < {{ lowest }}{% endif %}
{%- if highest is not none %} or {{ column_name }} > {{ highest }}{% endif %}
{% endtest %}
