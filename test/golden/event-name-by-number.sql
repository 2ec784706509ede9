-- select count() from events where event = 'buy' and event != 'gone'

-- DuckDB []
SELECT count(*) AS "count()" FROM (SELECT t.event_id AS "@event_id" FROM "p1".main.events AS t) AS "events" WHERE (("events"."@event_id" = 2) AND true)

-- ClickHouse ["buy","gone"]
SELECT count() AS `count()` FROM (SELECT CAST(t.event AS String) AS `event` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` WHERE and(equals(`events`.`event`, {p1:String}), notEquals(`events`.`event`, {p2:String}))
