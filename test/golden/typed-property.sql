-- select sum(properties.price), max(properties.tags[2].k) from events

-- DuckDB ["/price","/tags/1/k"]
SELECT sum("events"."properties.price:number") AS "sum(properties.price)", max("events"."properties.tags.[2].k") AS "max(properties.tags[2]['k'])" FROM (SELECT TRY_CAST(json_extract_string(t.properties, CAST($1 AS VARCHAR)) AS DOUBLE) AS "properties.price:number", json_extract_string(t.properties, CAST($2 AS VARCHAR)) AS "properties.tags.[2].k" FROM "p1".main.events AS t) AS "events"

-- ClickHouse ["price","tags","k"]
SELECT sum(`events`.`properties.price:number`) AS `sum(properties.price)`, max(`events`.`properties.tags.[2].k`) AS `max(properties.tags[2]['k'])` FROM (SELECT toFloat64OrNull(if(JSONType(t.properties, {p1:String}) = 'String', JSONExtractString(t.properties, {p1:String}), nullIf(nullIf(JSONExtractRaw(t.properties, {p1:String}), ''), 'null'))) AS `properties.price:number`, if(JSONType(t.properties, {p2:String}, 2, {p3:String}) = 'String', JSONExtractString(t.properties, {p2:String}, 2, {p3:String}), nullIf(nullIf(JSONExtractRaw(t.properties, {p2:String}, 2, {p3:String}), ''), 'null')) AS `properties.tags.[2].k` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events`
