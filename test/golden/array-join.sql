-- select number, x, y from numbers(2) array join [1, 2] as x, [3, 4] as y order by number, x

-- DuckDB []
SELECT "numbers"."number" AS "number", "items"."x" AS "x", "items"."y" AS "y" FROM (SELECT *, [1, 2] AS "@array_0", CASE WHEN CAST(CASE WHEN len([3, 4]) <> len([1, 2]) THEN 'waymark refuses|lengths|ARRAY JOIN|36-71@|' || len([1, 2]) || '|' || len([3, 4]) ELSE 'false' END AS BOOLEAN) THEN NULL ELSE [3, 4] END AS "@array_1" FROM (SELECT range AS "number" FROM range(0, 0 + CAST(2 AS BIGINT))) AS "numbers") AS "numbers" CROSS JOIN LATERAL (SELECT unnest("numbers"."@array_0") AS "x", unnest("numbers"."@array_1") AS "y") AS "items" ORDER BY "numbers"."number" NULLS LAST, "items"."x" NULLS LAST

-- ClickHouse []
SELECT `numbers`.`number` AS `number`, `items.x` AS `x`, `items.y` AS `y` FROM (SELECT number FROM numbers(2)) AS `numbers` ARRAY JOIN [1, 2] AS `items.x`, [3, 4] AS `items.y` ORDER BY `numbers`.`number` NULLS LAST, `items.x` NULLS LAST
