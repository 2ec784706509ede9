-- select uniq(person_id), count(distinct person_id) from events

-- DuckDB []
SELECT count(DISTINCT "events"."@person_no") AS "uniq(person_id)", count(DISTINCT "events"."@person_no") AS "count(DISTINCT person_id)" FROM (SELECT t.person_no AS "@person_no" FROM "p1".main.events AS t) AS "events"

-- ClickHouse []
SELECT uniqExact(`events`.`@person_no`) AS `uniq(person_id)`, count(DISTINCT `events`.`@person_no`) AS `count(DISTINCT person_id)` FROM (SELECT t.person_no AS `@person_no` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events`
