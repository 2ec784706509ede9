-- select person_id, count() as c from events group by person_id order by c, person_id limit 2

-- DuckDB []
SELECT "events"."person.id" AS "person_id", count(*) AS "c" FROM (SELECT "events_person"."id" AS "person.id" FROM (SELECT t.person_no AS "@person_no" FROM "p1".main.events AS t) AS "events_2" LEFT JOIN (SELECT t.uuid AS "id", t.person_no AS "@person_no" FROM "p1".main.persons AS t) AS "events_person" ON ("events_2"."@person_no" = "events_person"."@person_no")) AS "events" GROUP BY "events"."person.id" ORDER BY 2 NULLS LAST, "events"."person.id" NULLS LAST LIMIT 2

-- ClickHouse []
SELECT `events`.`person.id` AS `person_id`, count() AS `c` FROM (SELECT `events_person`.`id` AS `person.id` FROM (SELECT t.person_no AS `@person_no` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events_2` LEFT JOIN (SELECT t.uuid AS `id`, t.person_no AS `@person_no` FROM (SELECT * FROM persons WHERE project_id = 1) AS t) AS `events_person` ON equals(`events_2`.`@person_no`, `events_person`.`@person_no`)) AS `events` GROUP BY `events`.`person.id` ORDER BY 2 NULLS LAST, `events`.`person.id` NULLS LAST LIMIT 2
