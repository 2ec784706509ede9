-- select event, sum(properties.price) over (partition by event order by timestamp rows between 1 preceding and current row) as s from events order by timestamp

-- DuckDB ["/price"]
SELECT "events"."event" AS "event", sum("events"."properties.price:number") OVER (PARTITION BY "events"."event" ORDER BY "events"."timestamp" NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS "s" FROM (SELECT n.name AS "event", TRY_CAST(json_extract_string(t.properties, CAST($1 AS VARCHAR)) AS DOUBLE) AS "properties.price:number", t.timestamp AS "timestamp" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "events" ORDER BY "events"."timestamp" NULLS LAST

-- ClickHouse ["price"]
SELECT `events`.`event` AS `event`, sum(`events`.`properties.price:number`) OVER (PARTITION BY `events`.`event` ORDER BY `events`.`timestamp` NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS `s` FROM (SELECT CAST(t.event AS String) AS `event`, toFloat64OrNull(if(JSONType(t.properties, {p1:String}) = 'String', JSONExtractString(t.properties, {p1:String}), nullIf(nullIf(JSONExtractRaw(t.properties, {p1:String}), ''), 'null'))) AS `properties.price:number`, t.timestamp AS `timestamp` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` ORDER BY `events`.`timestamp` NULLS LAST
