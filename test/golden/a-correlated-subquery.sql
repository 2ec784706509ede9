-- select distinct_id from events e where not exists (select 1 from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp) order by 1

-- DuckDB []
SELECT "e"."distinct_id" AS "distinct_id" FROM (SELECT t.distinct_id AS "distinct_id", t.timestamp AS "timestamp" FROM "p1".main.events AS t) AS "e" WHERE (NOT EXISTS (SELECT 1 AS "1" FROM (SELECT t.distinct_id AS "distinct_id", t.timestamp AS "timestamp" FROM "p1".main.events AS t) AS "f" WHERE (("f"."distinct_id" = "e"."distinct_id") AND ("f"."timestamp" > "e"."timestamp")))) ORDER BY 1 NULLS LAST

-- ClickHouse []
SELECT `e`.`distinct_id` AS `distinct_id` FROM (SELECT t.distinct_id AS `distinct_id`, t.timestamp AS `timestamp` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `e` WHERE not(EXISTS (SELECT 1 AS `1` FROM (SELECT t.distinct_id AS `distinct_id`, t.timestamp AS `timestamp` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `f` WHERE and(equals(`f`.`distinct_id`, `e`.`distinct_id`), greater(`f`.`timestamp`, `e`.`timestamp`)))) ORDER BY 1 NULLS LAST
