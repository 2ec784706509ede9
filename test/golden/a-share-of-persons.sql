-- select count() from events sample 0.5 offset 0.25

-- DuckDB []
SELECT count(*) AS "count()" FROM (SELECT 1 AS one FROM "p1".main.events AS t WHERE (md5_number_lower(t.distinct_id) % 1000000 + 750000) % 1000000 < 500000) AS "events"

-- ClickHouse []
SELECT count() AS `count()` FROM (SELECT 1 AS one FROM (SELECT * FROM events WHERE project_id = 1) AS t WHERE (reinterpretAsUInt64(substring(MD5(t.distinct_id), 9, 8)) % 1000000 + 750000) % 1000000 < 500000) AS `events`
