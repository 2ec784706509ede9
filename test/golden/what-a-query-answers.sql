-- describe (select event, count() from events group by event)

-- DuckDB ["event","count()","String","UInt64"]
SELECT "catalog"."name" AS "name", "catalog"."type" AS "type" FROM (SELECT "rows"."name" AS "name", "rows"."type" AS "type" FROM (SELECT [CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)] AS "@array_0", CASE WHEN CAST(CASE WHEN len([CAST($3 AS VARCHAR), CAST($4 AS VARCHAR)]) <> len([CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)]) THEN 'waymark refuses|lengths|ARRAY JOIN|0-59@|' || len([CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)]) || '|' || len([CAST($3 AS VARCHAR), CAST($4 AS VARCHAR)]) ELSE 'false' END AS BOOLEAN) THEN NULL ELSE [CAST($3 AS VARCHAR), CAST($4 AS VARCHAR)] END AS "@array_1") AS "@arrays_of_rows" CROSS JOIN LATERAL (SELECT unnest("@arrays_of_rows"."@array_0") AS "name", unnest("@arrays_of_rows"."@array_1") AS "type") AS "rows") AS "catalog"

-- ClickHouse ["event","count()","String","UInt64"]
SELECT `catalog`.`name` AS `name`, `catalog`.`type` AS `type` FROM (SELECT `rows.name` AS `name`, `rows.type` AS `type` FROM system.one ARRAY JOIN [{p1:String}, {p2:String}] AS `rows.name`, [{p3:String}, {p4:String}] AS `rows.type`) AS `catalog`
