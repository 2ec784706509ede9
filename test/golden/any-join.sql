-- select a.number, b.x from numbers(2) a any left join (select number % 2 as n, 7 as x from numbers(4)) b on a.number = b.n order by 1

-- DuckDB []
SELECT "a"."number" AS "number", "b"."x" AS "x" FROM (SELECT range AS "number" FROM range(0, 0 + CAST(2 AS BIGINT))) AS "a" LEFT JOIN LATERAL (SELECT * FROM (SELECT ("numbers"."number" % 2) AS "n", 7 AS "x" FROM (SELECT range AS "number" FROM range(0, 0 + CAST(4 AS BIGINT))) AS "numbers") AS "b" WHERE ("a"."number" = "b"."n") LIMIT 1) AS "b" ON true ORDER BY 1 NULLS LAST

-- ClickHouse []
SELECT `a`.`number` AS `number`, `b`.`x` AS `x` FROM (SELECT number FROM numbers(2)) AS `a` LEFT ANY JOIN (SELECT modulo(`numbers`.`number`, 2) AS `n`, 7 AS `x` FROM (SELECT number FROM numbers(4)) AS `numbers`) AS `b` ON equals(`a`.`number`, `b`.`n`) ORDER BY 1 NULLS LAST
