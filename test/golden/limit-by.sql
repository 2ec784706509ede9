-- select event, properties.price as price from events order by price desc limit 1 by event

-- DuckDB ["/price"]
SELECT "events"."event" AS "event", "events"."properties.price:number" AS "price" FROM (SELECT n.name AS "event", TRY_CAST(json_extract_string(t.properties, CAST($1 AS VARCHAR)) AS DOUBLE) AS "properties.price:number" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "events" QUALIFY row_number() OVER (PARTITION BY "events"."event" ORDER BY "events"."properties.price:number" DESC NULLS LAST) <= 1 ORDER BY 2 DESC NULLS LAST

-- ClickHouse ["price"]
SELECT `events`.`event` AS `event`, `events`.`properties.price:number` AS `price` FROM (SELECT CAST(t.event AS String) AS `event`, toFloat64OrNull(if(JSONType(t.properties, {p1:String}) = 'String', JSONExtractString(t.properties, {p1:String}), nullIf(nullIf(JSONExtractRaw(t.properties, {p1:String}), ''), 'null'))) AS `properties.price:number` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` ORDER BY 2 DESC NULLS LAST LIMIT 1 BY `events`.`event`
