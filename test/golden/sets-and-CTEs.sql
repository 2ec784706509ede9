-- with recursive t (n) as (select 1 union all select n + 1 from t where n < 3), u as (select n from t) (select n from u where n > 1) union distinct (select 2) order by n desc

-- DuckDB []
WITH RECURSIVE "t" AS ((SELECT 1 AS "n") UNION ALL (SELECT ("t"."n" + CAST(1 AS BIGINT)) AS "plus(n, 1)" FROM "t" AS "t" WHERE ("t"."n" < 3))), "u" AS (SELECT "t_2"."n" AS "n" FROM "t" AS "t_2") (SELECT "u"."n" AS "n" FROM "u" AS "u" WHERE ("u"."n" > 1)) UNION (SELECT 2 AS "2") ORDER BY "n" DESC NULLS LAST

-- ClickHouse []
WITH RECURSIVE `with t` AS ((SELECT 1 AS `n`) UNION ALL (SELECT plus(`t`.`n`, 1) AS `plus(n, 1)` FROM `with t` AS `t` WHERE less(`t`.`n`, 3))), `with u` AS (SELECT `t_2`.`n` AS `n` FROM `with t` AS `t_2`) SELECT * FROM ((SELECT `u`.`n` AS `n` FROM `with u` AS `u` WHERE greater(`u`.`n`, 1)) UNION DISTINCT (SELECT 2 AS `2`)) ORDER BY `n` DESC NULLS LAST
