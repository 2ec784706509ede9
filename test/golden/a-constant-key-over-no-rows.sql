-- select 'x' as k, count(), (select count() from (select 1 as a, max(number) from numbers(0) group by a)) as none from events group by k

-- DuckDB ["x"]
SELECT CAST($1 AS VARCHAR) AS "k", count(*) AS "count()", (SELECT count(*) AS "count()" FROM (SELECT 1 AS "a", coalesce(max("numbers"."number"), 0) AS "max(number)" FROM (SELECT range AS "number" FROM range(0, 0 + CAST(0 AS BIGINT))) AS "numbers" GROUP BY () HAVING count(*) > 0) AS "subquery") AS "none" FROM (SELECT 1 AS one FROM "p1".main.events AS t) AS "events" GROUP BY () HAVING count(*) > 0

-- ClickHouse ["x"]
SELECT {p1:String} AS `k`, count() AS `count()`, (SELECT count() AS `count()` FROM (SELECT 1 AS `a`, max(`numbers`.`number`) AS `max(number)` FROM (SELECT number FROM numbers(0)) AS `numbers` GROUP BY '') AS `subquery`) AS `none` FROM (SELECT 1 AS one FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` GROUP BY ''
