-- select properties.none in (null, 1) as a, properties.none = null as b, properties.none != 1 as c from events limit 1

-- DuckDB ["/none"]
SELECT coalesce("events"."properties.none" = 1, "events"."properties.none" IS NULL) AS "a", ("events"."properties.none" IS NULL) AS "b", ("events"."properties.none" IS DISTINCT FROM CAST(1 AS VARCHAR)) AS "c" FROM (SELECT json_extract_string(t.properties, CAST($1 AS VARCHAR)) AS "properties.none" FROM "p1".main.events AS t) AS "events" LIMIT 1

-- ClickHouse ["none"]
SELECT (`events`.`properties.none` IN (NULL, 1)) AS `a`, isNull(`events`.`properties.none`) AS `b`, ifNull(notEquals(`events`.`properties.none`, toString(1)), 1) AS `c` FROM (SELECT if(JSONType(t.properties, {p1:String}) = 'String', JSONExtractString(t.properties, {p1:String}), nullIf(nullIf(JSONExtractRaw(t.properties, {p1:String}), ''), 'null')) AS `properties.none` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` LIMIT 1
