// What tools ask when they connect and browse, by tool. `rows` is a part of what has to come back: a row that is among the rows, or their number.

export interface ToolStatement {
  readonly sql: string
  readonly values?: readonly unknown[]
  readonly has?: Readonly<Record<string, unknown>>
  readonly count?: number
}

const jdbcTables = `SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,
  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'
    WHEN true THEN CASE WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END ELSE NULL END
    WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'i' THEN 'INDEX' WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'c' THEN 'TYPE' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END
    ELSE NULL END AS TABLE_TYPE,
  d.description AS REMARKS, '' as TYPE_CAT, '' as TYPE_SCHEM, '' as TYPE_NAME, '' AS SELF_REFERENCING_COL_NAME, '' AS REF_GENERATION
  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c
  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 and d.classoid = 'pg_class'::regclass)
  WHERE c.relnamespace = n.oid AND n.nspname LIKE 'public' AND c.relname LIKE '%'
  AND (false OR (c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema') OR (c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema'))
  ORDER BY TABLE_TYPE, TABLE_SCHEM, TABLE_NAME`

const jdbcColumns = `SELECT * FROM (
  SELECT current_database() AS current_database, n.nspname, c.relname, a.attname, a.atttypid, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull, a.atttypmod, a.attlen, t.typtypmod,
    row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity, nullif(a.attgenerated, '') as attgenerated,
    pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc, dsc.description, t.typbasetype, t.typtype
  FROM pg_catalog.pg_namespace n
  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)
  JOIN pg_catalog.pg_attribute a ON (a.attrelid = c.oid)
  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)
  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid = def.adrelid AND a.attnum = def.adnum)
  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid = dsc.classoid AND dc.relname = 'pg_class')
  LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace = dn.oid AND dn.nspname = 'pg_catalog')
  WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped AND n.nspname LIKE 'public' AND c.relname LIKE 'buy') c
  WHERE true ORDER BY nspname, c.relname, attnum`

const jdbcPrimaryKeys = `SELECT result.TABLE_CAT, result.TABLE_SCHEM, result.TABLE_NAME, result.COLUMN_NAME, result.KEY_SEQ, result.PK_NAME
  FROM (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,
      (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME, information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM
    FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)
    JOIN pg_catalog.pg_index i ON (a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)
    WHERE true AND ct.relname = 'events' AND i.indisprimary) result
  WHERE result.A_ATTNUM = (result.KEYS).x ORDER BY result.table_name, result.pk_name, result.key_seq`

const jdbcForeignKeys = `SELECT NULL::text AS PKTABLE_CAT, pkn.nspname AS PKTABLE_SCHEM, pkc.relname AS PKTABLE_NAME, pka.attname AS PKCOLUMN_NAME, NULL::text AS FKTABLE_CAT, fkn.nspname AS FKTABLE_SCHEM, fkc.relname AS FKTABLE_NAME,
  fka.attname AS FKCOLUMN_NAME, pos.n AS KEY_SEQ, CASE con.confupdtype WHEN 'c' THEN 0 WHEN 'n' THEN 2 WHEN 'd' THEN 4 WHEN 'r' THEN 1 WHEN 'a' THEN 3 ELSE NULL END AS UPDATE_RULE, con.conname AS FK_NAME, pkic.relname AS PK_NAME
  FROM pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka, pg_catalog.pg_namespace fkn, pg_catalog.pg_class fkc, pg_catalog.pg_attribute fka, pg_catalog.pg_constraint con,
    pg_catalog.generate_series(1, 32) pos(n), pg_catalog.pg_class pkic
  WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid AND fkn.oid = fkc.relnamespace AND fkc.oid = fka.attrelid AND fka.attnum = con.conkey[pos.n]
    AND con.conrelid = fkc.oid AND con.contype = 'f' AND pkic.relkind in ('i', 'I') AND pkic.oid = con.conindid AND fkn.nspname = 'public' AND fkc.relname = 'events'
  ORDER BY pkn.nspname, pkc.relname, con.conname, pos.n`

const pgjdbc: readonly ToolStatement[] = [
  { sql: 'SET extra_float_digits = 3' },
  { sql: "SET application_name = 'PostgreSQL JDBC Driver'" },
  { sql: 'BEGIN READ ONLY' },
  { sql: 'COMMIT' },
  { sql: jdbcTables, has: { table_name: 'buy', table_type: 'VIEW' } },
  { sql: jdbcColumns, has: { attname: 'price', atttypid: 701 } },
  { sql: jdbcPrimaryKeys, count: 0 },
  { sql: jdbcForeignKeys, count: 0 },
  {
    sql: "SELECT nspname AS TABLE_SCHEM, NULL AS TABLE_CATALOG FROM pg_catalog.pg_namespace WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_' OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_')) ORDER BY TABLE_SCHEM",
    has: { table_schem: 'public' },
  },
  { sql: "SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'", has: { setting: '32' } },
  {
    sql: "SELECT t.typname,t.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON (t.typnamespace = n.oid) WHERE n.nspname != 'pg_toast' AND (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))",
    has: { typname: 'timestamptz', oid: 1184 },
  },
  {
    sql: 'SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1',
    values: [3802],
    has: { typname: 'jsonb' },
  },
  {
    sql: "SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns join ( select s.r, (current_schemas(false))[s.r] as nspname from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r using ( nspname )) as sp ON sp.nspoid = typnamespace WHERE typname = $1 ORDER BY sp.r, pg_type.oid DESC LIMIT 1",
    values: ['jsonb'],
    has: { typname: 'jsonb' },
  },
]

const metabase: readonly ToolStatement[] = [
  { sql: "SET SESSION TIMEZONE TO 'America/New_York'" },
  {
    sql: "SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' END AS type, d.description AS description FROM pg_catalog.pg_class c INNER JOIN pg_catalog.pg_namespace n ON c.relnamespace = n.oid LEFT JOIN pg_catalog.pg_description d ON (d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass) WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind in ('r', 'p', 'v', 'f', 'm') ORDER BY type, schema, name",
    has: { name: 'buy', type: 'VIEW' },
  },
  {
    sql: "with table_privileges as (select NULL as role, t.schemaname as schema, t.objectname as table, pg_catalog.has_any_column_privilege(current_user, '\"' || replace(t.schemaname, '\"', '\"\"') || '\".\"' || replace(t.objectname, '\"', '\"\"') || '\"', 'update') as update, pg_catalog.has_any_column_privilege(current_user, '\"' || replace(t.schemaname, '\"', '\"\"') || '\".\"' || replace(t.objectname, '\"', '\"\"') || '\"', 'select') as select from (select schemaname, tablename as objectname from pg_catalog.pg_tables union select schemaname, viewname as objectname from pg_catalog.pg_views) t where t.schemaname !~ '^pg_' and t.schemaname <> 'information_schema' and pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage')) select t.* from table_privileges t",
    has: { table: 'buy', select: true, update: false },
  },
  {
    sql: `SELECT "c"."column_name" AS "name", CASE WHEN "c"."udt_schema" IN ('public', 'pg_catalog') THEN FORMAT('%s', "c"."udt_name") ELSE "c"."udt_name" END AS "database-type", "c"."ordinal_position" - 1 AS "database-position", "c"."table_schema" AS "table-schema", "c"."table_name" AS "table-name", "pk"."column_name" IS NOT NULL AS "pk?", COL_DESCRIPTION(CAST(CAST(FORMAT('%I.%I', CAST("c"."table_schema" AS text), CAST("c"."table_name" AS text)) AS regclass) AS oid), "c"."ordinal_position") AS "field-comment" FROM "information_schema"."columns" AS "c" LEFT JOIN (SELECT "tc"."table_schema", "tc"."table_name", "kc"."column_name" FROM "information_schema"."table_constraints" AS "tc" INNER JOIN "information_schema"."key_column_usage" AS "kc" ON "tc"."constraint_name" = "kc"."constraint_name" WHERE "tc"."constraint_type" = 'PRIMARY KEY') AS "pk" ON "c"."table_schema" = "pk"."table_schema" AND "c"."table_name" = "pk"."table_name" WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND "c"."table_name" IN ('buy') ORDER BY "table-schema" ASC, "table-name" ASC, "database-position" ASC`,
    has: { name: 'price', 'database-type': 'float8' },
  },
  { sql: 'SELECT "public"."buy"."price" AS "price", "public"."buy"."plan" AS "plan" FROM "public"."buy" LIMIT 2000', count: 2 },
  {
    sql: `SELECT DATE_TRUNC('month', "public"."events"."timestamp") AS "timestamp", COUNT(*) AS "count" FROM "public"."events" WHERE ("public"."events"."timestamp" >= timestamp with time zone '2024-01-01 00:00:00.000Z') GROUP BY DATE_TRUNC('month', "public"."events"."timestamp") ORDER BY DATE_TRUNC('month', "public"."events"."timestamp") ASC`,
    has: { count: '4' },
  },
  {
    sql: `SELECT CAST("public"."events"."timestamp" AS date) AS "timestamp", COUNT(distinct "public"."events"."distinct_id") AS "count" FROM "public"."events" WHERE ("public"."events"."event" <> $1 OR ("public"."events"."event" IS NULL)) GROUP BY CAST("public"."events"."timestamp" AS date) ORDER BY CAST("public"."events"."timestamp" AS date) ASC`,
    values: ['x'],
    count: 3,
  },
  {
    sql: 'SELECT COUNT(*) AS "count", SUM("source"."price") AS "sum", AVG("source"."price") AS "avg" FROM (SELECT "public"."buy"."price" AS "price" FROM "public"."buy" WHERE "public"."buy"."gift" = TRUE) AS "source"',
    has: { count: '1', sum: 5 },
  },
  {
    sql: 'SELECT "source"."plan" AS "plan" FROM (SELECT "public"."buy"."plan" AS "plan" FROM "public"."buy" GROUP BY "public"."buy"."plan" ORDER BY "public"."buy"."plan" ASC) AS "source" LIMIT 1000',
    has: { plan: 'pro' },
  },
  { sql: 'SELECT SUBSTRING("public"."buy"."plan", 1, 1234) AS "substring4" FROM "public"."buy" LIMIT 10000', has: { substring4: 'pro' } },
]

const grafana: readonly ToolStatement[] = [
  { sql: "SELECT current_setting('server_version_num')::int/100 as version", has: { version: 1500 } },
  { sql: "SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'", count: 0 },
  {
    sql: `select quote_ident(table_name) as "table" from information_schema.tables where quote_ident(table_schema) not in ('information_schema', 'pg_catalog', '_timescaledb_cache', '_timescaledb_catalog', '_timescaledb_internal', '_timescaledb_config', 'timescaledb_information', 'timescaledb_experimental') and quote_ident(table_schema) = ANY (string_to_array('public', ','))`,
    has: { table: 'events' },
  },
  {
    sql: `select quote_ident(column_name) as "column", data_type as "type" from information_schema.columns where quote_ident(table_name) = 'buy'`,
    has: { column: 'price', type: 'double precision' },
  },
  {
    sql: `SELECT floor(extract(epoch from timestamp)/86400)*86400 AS "time", event AS metric, count(*) AS "value" FROM events WHERE timestamp BETWEEN '2024-03-01T00:00:00Z' AND '2024-03-05T00:00:00Z' GROUP BY 1, 2 ORDER BY 1, 2`,
    has: { metric: 'buy', value: '1' },
  },
  {
    sql: `SELECT timestamp AS "time", price FROM buy WHERE timestamp >= '2024-03-01T00:00:00Z' AND timestamp <= '2024-03-31T00:00:00Z' LIMIT 50`,
    count: 2,
  },
  { sql: "SELECT date_bin_or_not FROM (SELECT date_trunc('hour', timestamp) AS date_bin_or_not FROM events) AS t ORDER BY 1", count: 4 },
]

const superset: readonly ToolStatement[] = [
  { sql: 'select pg_catalog.version()' },
  { sql: 'show standard_conforming_strings', has: { standard_conforming_strings: 'on' } },
  { sql: 'select current_schema()', has: { current_schema: 'public' } },
  { sql: 'show transaction isolation level' },
  { sql: "SELECT CAST('test plain returns' AS VARCHAR(60)) AS anon_1", has: { anon_1: 'test plain returns' } },
  { sql: "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY nspname", has: { nspname: 'public' } },
  {
    sql: "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p']) AND pg_catalog.pg_class.relpersistence != 't' AND pg_catalog.pg_namespace.nspname = 'public'",
    has: { relname: 'events' },
  },
  {
    sql: "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relname = 'buy' AND pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog'",
    count: 1,
  },
  {
    sql: "SELECT pg_catalog.pg_attribute.attname AS name, pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod) AS format_type, (SELECT pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS pg_get_expr_1 FROM pg_catalog.pg_attrdef WHERE pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum AND pg_catalog.pg_attribute.atthasdef) AS \"default\", pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name, pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS generated FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > 0 AND NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_class.relname IN ('buy') ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum",
    has: { name: 'price', format_type: 'double precision' },
  },
  {
    sql: 'SELECT n.nspname as "schema", t.typname as "name", pg_catalog.pg_type_is_visible(t.oid) as "visible", e.enumlabel FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace JOIN pg_catalog.pg_enum e ON t.oid = e.enumtypid WHERE t.typtype = \'e\'',
    count: 0,
  },
  { sql: "SELECT t.typname, t.oid FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid WHERE typname = 'hstore'", count: 0 },
  {
    sql: "SELECT DATE_TRUNC('day', timestamp) AS __timestamp, plan AS plan, COUNT(*) AS count FROM public.buy WHERE timestamp >= TO_TIMESTAMP(1709251200) AND timestamp < '2025-01-01 00:00:00.000000' GROUP BY DATE_TRUNC('day', timestamp), plan ORDER BY count DESC LIMIT 10000",
    count: 2,
  },
  {
    sql: 'SELECT event AS event, COUNT(*) AS count FROM (select * from events) AS virtual_table GROUP BY event ORDER BY count DESC, event LIMIT 100',
    has: { event: 'view', count: '2' },
  },
]

const tableau: readonly ToolStatement[] = [
  { sql: "SET DateStyle = 'ISO'" },
  { sql: 'SET extra_float_digits = 2' },
  { sql: "select oid, typbasetype from pg_type where typname = 'lo'", count: 0 },
  {
    sql: "select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n where relkind in ('r', 'v', 'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1') and n.oid = relnamespace order by nspname, relname",
    has: { relname: 'buy' },
  },
  {
    sql: "select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull, c.relhasrules, c.relkind, c.oid, pg_get_expr(d.adbin, d.adrelid), case t.typtype when 'd' then t.typbasetype else 0 end, t.typtypmod from (((pg_catalog.pg_class c inner join pg_catalog.pg_namespace n on n.oid = c.relnamespace and c.relname like E'buy' and n.nspname like E'public') inner join pg_catalog.pg_attribute a on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid) inner join pg_catalog.pg_type t on t.oid = a.atttypid) left outer join pg_attrdef d on a.atthasdef and d.adrelid = a.attrelid and d.adnum = a.attnum order by n.nspname, c.relname, attnum",
    has: { attname: 'price', typname: 'float8' },
  },
  { sql: 'BEGIN' },
  {
    sql: 'declare "SQL_CUR0x1" cursor with hold for SELECT "buy"."plan" AS "plan", SUM("buy"."price") AS "sum:price:ok" FROM "public"."buy" "buy" GROUP BY 1',
  },
  { sql: 'fetch 10000 in "SQL_CUR0x1"', has: { plan: 'pro', 'sum:price:ok': 12.5 } },
  { sql: 'close "SQL_CUR0x1"' },
  { sql: 'COMMIT' },
  { sql: 'SELECT * FROM "public"."buy" LIMIT 0', count: 0 },
  {
    sql: 'SELECT CAST(EXTRACT(YEAR FROM "events"."timestamp") AS BIGINT) AS "yr:timestamp:ok", COUNT(1) AS "n" FROM "public"."events" "events" GROUP BY 1',
    has: { 'yr:timestamp:ok': '2024', n: '4' },
  },
]

const dbeaver: readonly ToolStatement[] = [
  { sql: "SET application_name = 'DBeaver'" },
  { sql: 'SELECT current_schema(),session_user', has: { current_schema: 'public' } },
  {
    sql: 'SELECT db.oid,db.* FROM pg_catalog.pg_database db WHERE datname=$1',
    values: ['Default Project'],
    has: { datname: 'Default Project' },
  },
  { sql: "SELECT * FROM pg_catalog.pg_settings where name='standard_conforming_strings'", has: { setting: 'on' } },
  { sql: 'select * from pg_catalog.pg_settings where name=$1', values: ['ssl'] },
  {
    sql: "SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass ORDER BY nspname",
    has: { nspname: 'public' },
  },
  {
    sql: "SELECT t.oid,t.*,c.relkind,format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name, d.description FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid=t.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid=t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid=d.objoid WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')",
    has: { typname: 'timestamptz' },
  },
  {
    sql: "SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr, pg_catalog.pg_get_partkeydef(c.oid) as partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass WHERE c.relnamespace=$1 AND c.relkind not in ('i','I','c')",
    values: [2200],
    has: { relname: 'buy' },
  },
  {
    sql: "SELECT c.relname,a.*,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description,dep.objid FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum) LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid) LEFT OUTER JOIN pg_depend dep on dep.refobjid = a.attrelid AND dep.deptype = 'i' and dep.refobjsubid = a.attnum and dep.classid = dep.refclassid WHERE NOT a.attisdropped AND c.relname = 'buy' ORDER BY a.attnum",
    has: { attname: 'price' },
  },
  {
    sql: "SELECT c.oid,c.*,t.relname as tabrelname,rt.relnamespace as refnamespace,d.description, case when c.contype='c' then \"substring\"(pg_get_constraintdef(c.oid), 7) else null end consrc_copy FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid=c.conrelid LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid=c.confrelid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_constraint'::regclass WHERE c.conrelid=16384 ORDER BY c.oid",
    count: 0,
  },
  {
    sql: 'SELECT i.*,i.indkey as keys,c.relname,c.relnamespace,c.relam,c.reltablespace,tc.relname as tabrelname,dsc.description,pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid INNER JOIN pg_catalog.pg_class tc ON tc.oid=i.indrelid LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid=dsc.objoid WHERE i.indrelid=16384 ORDER BY tabrelname, c.relname',
    count: 0,
  },
  { sql: 'select * from pg_catalog.pg_enum', count: 0 },
  {
    sql: 'select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,pg_catalog.pg_relation_size(c.oid) as rel_size FROM pg_class c WHERE c.relnamespace=2200',
  },
  { sql: 'SELECT x.* FROM public.buy x', count: 2 },
  { sql: 'SELECT x.plan, count(1) FROM public.buy x GROUP BY x.plan ORDER BY count(1) DESC', has: { plan: 'pro', count: '2' } },
]

export const toolStatements: Readonly<Record<string, readonly ToolStatement[]>> = {
  pgjdbc,
  Metabase: metabase,
  Grafana: grafana,
  Superset: superset,
  Tableau: tableau,
  DBeaver: dbeaver,
}
