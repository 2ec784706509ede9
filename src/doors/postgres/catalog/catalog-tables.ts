import type { ProjectTable, ProjectTables } from '../translation/tables.ts'
import { itemOf, oidOf, pgTypes, type Scalar, type TypeName, titleOf } from '../types/pg-types.ts'

// The tables of pg_catalog and information_schema: their columns, and the rows of those that tell of a project. `o` is an oid, `i` a number, `t` a text, `b` a truth.

const kinds: Readonly<Record<string, string>> = {
  o: 'UINTEGER',
  i: 'INTEGER',
  s: 'SMALLINT',
  l: 'BIGINT',
  t: 'VARCHAR',
  b: 'BOOLEAN',
  f: 'DOUBLE',
  z: 'TIMESTAMPTZ',
  'i[]': 'INTEGER[]',
  's[]': 'SMALLINT[]',
  't[]': 'VARCHAR[]',
  'o[]': 'UINTEGER[]',
}

export const catalogColumns: Readonly<Record<string, string>> = {
  pg_namespace: 'oid:o nspname:t nspowner:o nspacl:t[]',
  pg_class:
    'oid:o relname:t relnamespace:o reltype:o reloftype:o relowner:o relam:o relfilenode:o reltablespace:o relpages:i reltuples:f relallvisible:i reltoastrelid:o relhasindex:b relisshared:b relpersistence:t relkind:t relnatts:s relchecks:s relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident:t relispartition:b relrewrite:o relfrozenxid:l relminmxid:l relacl:t[] reloptions:t[] relpartbound:t xmin:l',
  pg_attribute:
    'attrelid:o attname:t atttypid:o attstattarget:i attlen:s attnum:s attndims:i attcacheoff:i atttypmod:i attbyval:b attstorage:t attalign:t attcompression:t attnotnull:b atthasdef:b atthasmissing:b attidentity:t attgenerated:t attisdropped:b attislocal:b attinhcount:i attcollation:o attacl:t[] attoptions:t[] attfdwoptions:t[] attmissingval:t xmin:l',
  pg_type:
    'oid:o typname:t typnamespace:o typowner:o typlen:s typbyval:b typtype:t typcategory:t typispreferred:b typisdefined:b typdelim:t typrelid:o typsubscript:t typelem:o typarray:o typinput:t typoutput:t typreceive:t typsend:t typmodin:t typmodout:t typanalyze:t typalign:t typstorage:t typnotnull:b typbasetype:o typtypmod:i typndims:i typcollation:o typdefaultbin:t typdefault:t typacl:t[] xmin:l',
  pg_database:
    'oid:o datname:t datdba:o encoding:i datlocprovider:t datistemplate:b datallowconn:b datconnlimit:i datfrozenxid:l datminmxid:l dattablespace:o datcollate:t datctype:t daticulocale:t datcollversion:t datacl:t[]',
  pg_roles:
    'oid:o rolname:t rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolconnlimit:i rolpassword:t rolvaliduntil:z rolbypassrls:b rolconfig:t[]',
  pg_authid: 'oid:o rolname:t rolsuper:b rolinherit:b rolcanlogin:b',
  pg_user: 'usename:t usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:z useconfig:t[]',
  pg_group: 'groname:t grosysid:o grolist:o[]',
  pg_auth_members: 'roleid:o member:o grantor:o admin_option:b',
  pg_settings:
    'name:t setting:t unit:t category:t short_desc:t extra_desc:t context:t vartype:t source:t min_val:t max_val:t enumvals:t[] boot_val:t reset_val:t sourcefile:t sourceline:i pending_restart:b',
  pg_tables: 'schemaname:t tablename:t tableowner:t tablespace:t hasindexes:b hasrules:b hastriggers:b rowsecurity:b',
  pg_views: 'schemaname:t viewname:t viewowner:t definition:t',
  pg_matviews: 'schemaname:t matviewname:t matviewowner:t tablespace:t hasindexes:b ispopulated:b definition:t',
  pg_indexes: 'schemaname:t tablename:t indexname:t tablespace:t indexdef:t',
  pg_sequences:
    'schemaname:t sequencename:t sequenceowner:t data_type:t start_value:l min_value:l max_value:l increment_by:l cycle:b cache_size:l last_value:l',
  pg_sequence: 'seqrelid:o seqtypid:o seqstart:l seqincrement:l seqmax:l seqmin:l seqcache:l seqcycle:b',
  pg_rules: 'schemaname:t tablename:t rulename:t definition:t',
  pg_description: 'objoid:o classoid:o objsubid:i description:t',
  pg_shdescription: 'objoid:o classoid:o description:t',
  pg_attrdef: 'oid:o adrelid:o adnum:s adbin:t adsrc:t',
  pg_index:
    'indexrelid:o indrelid:o indnatts:s indnkeyatts:s indisunique:b indnullsnotdistinct:b indisprimary:b indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b indisreplident:b indkey:s[] indcollation:o[] indclass:o[] indoption:s[] indexprs:t indpred:t xmin:l',
  pg_constraint:
    'oid:o conname:t connamespace:o contype:t condeferrable:b condeferred:b convalidated:b conrelid:o contypid:o conindid:o conparentid:o confrelid:o confupdtype:t confdeltype:t confmatchtype:t conislocal:b coninhcount:i connoinherit:b conkey:s[] confkey:s[] conpfeqop:o[] conppeqop:o[] conffeqop:o[] conexclop:o[] conbin:t consrc:t xmin:l',
  pg_proc:
    'oid:o proname:t pronamespace:o proowner:o prolang:o procost:f prorows:f provariadic:o prosupport:t prokind:t prosecdef:b proleakproof:b proisstrict:b proretset:b provolatile:t proparallel:t pronargs:s pronargdefaults:s prorettype:o proargtypes:o[] proallargtypes:o[] proargmodes:t[] proargnames:t[] proargdefaults:t protrftypes:o[] prosrc:t probin:t proconfig:t[] proacl:t[] proisagg:b xmin:l',
  pg_aggregate: 'aggfnoid:o aggkind:t aggnumdirectargs:s',
  pg_am: 'oid:o amname:t amhandler:t amtype:t',
  pg_collation:
    'oid:o collname:t collnamespace:o collowner:o collprovider:t collisdeterministic:b collencoding:i collcollate:t collctype:t',
  pg_enum: 'oid:o enumtypid:o enumsortorder:f enumlabel:t',
  pg_range: 'rngtypid:o rngsubtype:o rngmultitypid:o rngcollation:o rngsubopc:o',
  pg_extension: 'oid:o extname:t extowner:o extnamespace:o extrelocatable:b extversion:t extconfig:o[] extcondition:t[]',
  pg_available_extensions: 'name:t default_version:t installed_version:t comment:t',
  pg_trigger:
    'oid:o tgrelid:o tgparentid:o tgname:t tgfoid:o tgtype:s tgenabled:t tgisinternal:b tgconstrrelid:o tgconstrindid:o tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:s tgattr:s[] tgargs:t tgqual:t tgoldtable:t tgnewtable:t',
  pg_event_trigger: 'oid:o evtname:t evtevent:t evtowner:o evtfoid:o evtenabled:t evttags:t[]',
  pg_inherits: 'inhrelid:o inhparent:o inhseqno:i inhdetachpending:b',
  pg_rewrite: 'oid:o rulename:t ev_class:o ev_type:t ev_enabled:t is_instead:b ev_qual:t ev_action:t',
  pg_depend: 'classid:o objid:o objsubid:i refclassid:o refobjid:o refobjsubid:i deptype:t',
  pg_shdepend: 'dbid:o classid:o objid:o objsubid:i refclassid:o refobjid:o deptype:t',
  pg_tablespace: 'oid:o spcname:t spcowner:o spcacl:t[] spcoptions:t[]',
  pg_stat_activity:
    'datid:o datname:t pid:i leader_pid:i usesysid:o usename:t application_name:t client_addr:t client_hostname:t client_port:i backend_start:z xact_start:z query_start:z state_change:z wait_event_type:t wait_event:t state:t backend_xid:l backend_xmin:l query_id:l query:t backend_type:t',
  pg_stat_user_tables:
    'relid:o schemaname:t relname:t seq_scan:l seq_tup_read:l idx_scan:l n_tup_ins:l n_live_tup:l n_dead_tup:l last_vacuum:z last_analyze:z',
  pg_stat_all_tables: 'relid:o schemaname:t relname:t n_live_tup:l n_dead_tup:l',
  pg_statio_user_tables: 'relid:o schemaname:t relname:t heap_blks_read:l heap_blks_hit:l',
  pg_stats: 'schemaname:t tablename:t attname:t inherited:b null_frac:f avg_width:i n_distinct:f',
  pg_policy: 'oid:o polname:t polrelid:o polcmd:t polpermissive:b polroles:o[] polqual:t polwithcheck:t',
  pg_policies: 'schemaname:t tablename:t policyname:t permissive:t roles:t[] cmd:t qual:t with_check:t',
  pg_publication: 'oid:o pubname:t pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b',
  pg_publication_rel: 'oid:o prpubid:o prrelid:o prqual:t prattrs:s[]',
  pg_publication_namespace: 'oid:o pnpubid:o pnnspid:o',
  pg_publication_tables: 'pubname:t schemaname:t tablename:t',
  pg_foreign_table: 'ftrelid:o ftserver:o ftoptions:t[]',
  pg_foreign_server: 'oid:o srvname:t srvowner:o srvfdw:o srvtype:t srvversion:t srvacl:t[] srvoptions:t[]',
  pg_foreign_data_wrapper: 'oid:o fdwname:t fdwowner:o fdwhandler:o fdwvalidator:o fdwacl:t[] fdwoptions:t[]',
  pg_user_mapping: 'oid:o umuser:o umserver:o umoptions:t[]',
  pg_language: 'oid:o lanname:t lanowner:o lanispl:b lanpltrusted:b lanplcallfoid:o laninline:o lanvalidator:o lanacl:t[]',
  pg_operator:
    'oid:o oprname:t oprnamespace:o oprowner:o oprkind:t oprcanmerge:b oprcanhash:b oprleft:o oprright:o oprresult:o oprcom:o oprnegate:o oprcode:t oprrest:t oprjoin:t',
  pg_opclass: 'oid:o opcmethod:o opcname:t opcnamespace:o opcowner:o opcfamily:o opcintype:o opcdefault:b opckeytype:o',
  pg_opfamily: 'oid:o opfmethod:o opfname:t opfnamespace:o opfowner:o',
  pg_cast: 'oid:o castsource:o casttarget:o castfunc:o castcontext:t castmethod:t',
  pg_conversion: 'oid:o conname:t connamespace:o conowner:o',
  pg_locks: 'locktype:t database:o relation:o pid:i mode:t granted:b',
  pg_partitioned_table: 'partrelid:o partstrat:t partnatts:s partdefid:o partattrs:s[]',
  pg_statistic_ext: 'oid:o stxrelid:o stxname:t stxnamespace:o stxowner:o stxstattarget:i stxkeys:s[] stxkind:t[] stxexprs:t',
  pg_default_acl: 'oid:o defaclrole:o defaclnamespace:o defaclobjtype:t defaclacl:t[]',
  pg_db_role_setting: 'setdatabase:o setrole:o setconfig:t[]',
  pg_timezone_names: 'name:t abbrev:t utc_offset:t is_dst:b',
  pg_prepared_statements: 'name:t statement:t prepare_time:z from_sql:b',
  pg_ts_config: 'oid:o cfgname:t cfgnamespace:o cfgowner:o cfgparser:o',
  pg_ts_dict: 'oid:o dictname:t dictnamespace:o dictowner:o',
  pg_transform: 'oid:o trftype:o trflang:o',
  pg_largeobject_metadata: 'oid:o lomowner:o lomacl:t[]',
}

const usual = 'catalog:t schema:t name:t'
const prefixed = (prefix: string) => usual.replace(/\b(catalog|schema|name):/g, `${prefix}_$1:`)

export const informationColumns: Readonly<Record<string, string>> = {
  tables: `${prefixed('table')} table_type:t self_referencing_column_name:t reference_generation:t user_defined_type_catalog:t user_defined_type_schema:t user_defined_type_name:t is_insertable_into:t is_typed:t commit_action:t`,
  columns: `${prefixed('table')} column_name:t ordinal_position:i column_default:t is_nullable:t data_type:t character_maximum_length:i character_octet_length:i numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type:t interval_precision:i ${prefixed('character_set')} ${prefixed('collation')} ${prefixed('domain')} ${prefixed('udt')} ${prefixed('scope')} maximum_cardinality:i dtd_identifier:t is_self_referencing:t is_identity:t identity_generation:t identity_start:t identity_increment:t identity_maximum:t identity_minimum:t identity_cycle:t is_generated:t generation_expression:t is_updatable:t`,
  schemata: `catalog_name:t schema_name:t schema_owner:t ${prefixed('default_character_set')} sql_path:t`,
  views: `${prefixed('table')} view_definition:t check_option:t is_updatable:t is_insertable_into:t is_trigger_updatable:t is_trigger_deletable:t is_trigger_insertable_into:t`,
  key_column_usage: `${prefixed('constraint')} ${prefixed('table')} column_name:t ordinal_position:i position_in_unique_constraint:i`,
  table_constraints: `${prefixed('constraint')} ${prefixed('table')} constraint_type:t is_deferrable:t initially_deferred:t enforced:t nulls_distinct:t`,
  referential_constraints: `${prefixed('constraint')} ${prefixed('unique_constraint')} match_option:t update_rule:t delete_rule:t`,
  constraint_column_usage: `${prefixed('table')} column_name:t ${prefixed('constraint')}`,
  constraint_table_usage: `${prefixed('table')} ${prefixed('constraint')}`,
  check_constraints: `${prefixed('constraint')} check_clause:t`,
  table_privileges: `grantor:t grantee:t ${prefixed('table')} privilege_type:t is_grantable:t with_hierarchy:t`,
  role_table_grants: `grantor:t grantee:t ${prefixed('table')} privilege_type:t is_grantable:t with_hierarchy:t`,
  column_privileges: `grantor:t grantee:t ${prefixed('table')} column_name:t privilege_type:t is_grantable:t`,
  routines: `${prefixed('specific')} ${prefixed('routine')} routine_type:t data_type:t routine_definition:t external_language:t`,
  parameters: `${prefixed('specific')} ordinal_position:i parameter_mode:t parameter_name:t data_type:t`,
  sequences: `${prefixed('sequence')} data_type:t numeric_precision:i start_value:t minimum_value:t maximum_value:t increment:t cycle_option:t`,
  triggers: `${prefixed('trigger')} event_manipulation:t event_object_catalog:t event_object_schema:t event_object_table:t action_statement:t action_timing:t`,
  character_sets: `${prefixed('character_set')} character_repertoire:t form_of_use:t`,
  domains: `${prefixed('domain')} data_type:t`,
  element_types: `object_catalog:t object_schema:t object_name:t object_type:t collection_type_identifier:t data_type:t`,
  applicable_roles: 'grantee:t role_name:t is_grantable:t',
  enabled_roles: 'role_name:t',
  information_schema_catalog_name: 'catalog_name:t',
  foreign_tables: `${prefixed('foreign_table')} foreign_server_catalog:t foreign_server_name:t`,
}

const columnsOf = (spec: string) => spec.split(' ').map((one) => one.split(':') as [string, string])

export const createTable = (schema: string, name: string, spec: string): string =>
  `CREATE TABLE ${schema}.${name} (${columnsOf(spec)
    .map(([column, kind]) => `"${column}" ${kinds[kind]}`)
    .join(', ')})`

type Cell = string | number | boolean | null
export type Rows = readonly Readonly<Record<string, Cell>>[]

const literal = (cell: Cell | undefined): string =>
  cell == null ? 'NULL' : typeof cell === 'string' ? `'${cell.replaceAll("'", "''")}'` : String(cell)

/** Statements that insert rows, some hundred each. What a row does not say is NULL. */
export function* insertions(schema: string, name: string, spec: string, rows: Rows): Generator<string> {
  const columns = columnsOf(spec).map(([column]) => column)
  for (let from = 0; from < rows.length; from += 500) {
    const values = rows.slice(from, from + 500).map((row) => `(${columns.map((column) => literal(row[column])).join(', ')})`)
    yield `INSERT INTO ${schema}.${name} VALUES ${values.join(', ')}`
  }
}

const schemaOids = { pg_catalog: 11, public: 2200, information_schema: 13_000 } as const
const owner = 10
const databaseOid = 16_383
const firstTable = 16_384

/** The oid of each table. */
export const tableOids = (tables: ProjectTables): ReadonlyMap<string, number> =>
  new Map([...tables.keys()].map((name, i) => [name, firstTable + i]))

const byValue = (size: number) => size > 0 && size <= 8

const typeRows = (): Rows =>
  (Object.keys(pgTypes) as Scalar[]).flatMap((name) => {
    const { oid, size, array, category } = pgTypes[name]
    const base = {
      typnamespace: schemaOids.pg_catalog,
      typowner: owner,
      typtype: 'b',
      typisdefined: true,
      typdelim: ',',
      typrelid: 0,
      typnotnull: false,
      typbasetype: 0,
      typtypmod: -1,
      typndims: 0,
      typcollation: category === 'S' ? 100 : 0,
      typispreferred: false,
      typstorage: 'p',
      typalign: 'i',
    }
    return [
      {
        ...base,
        oid,
        typname: name,
        typlen: size,
        typbyval: byValue(size),
        typcategory: category,
        typelem: 0,
        typarray: array,
        typinput: `${name}in`,
        typoutput: `${name}out`,
        typreceive: `${name}recv`,
        typsend: `${name}send`,
      },
      {
        ...base,
        oid: array,
        typname: `_${name}`,
        typlen: -1,
        typbyval: false,
        typcategory: 'A',
        typelem: oid,
        typarray: 0,
        typinput: 'array_in',
        typoutput: 'array_out',
        typreceive: 'array_recv',
        typsend: 'array_send',
      },
    ]
  })

const classRow = (table: ProjectTable, oid: number) => ({
  oid,
  relname: table.name,
  relnamespace: schemaOids.public,
  reltype: 0,
  reloftype: 0,
  relowner: owner,
  relam: table.kind === 'table' ? 2 : 0,
  relfilenode: 0,
  reltablespace: 0,
  relpages: 0,
  reltuples: -1,
  relallvisible: 0,
  reltoastrelid: 0,
  relhasindex: false,
  relisshared: false,
  relpersistence: 'p',
  relkind: table.kind === 'table' ? 'r' : 'v',
  relnatts: table.columns.length,
  relchecks: 0,
  relhasrules: false,
  relhastriggers: false,
  relhassubclass: false,
  relrowsecurity: false,
  relforcerowsecurity: false,
  relispopulated: true,
  relreplident: 'n',
  relispartition: false,
  relrewrite: 0,
  relfrozenxid: 0,
  relminmxid: 0,
  xmin: 1,
})

const sizeOfColumn = (type: TypeName): number => (itemOf(type) ? -1 : (pgTypes[type as Scalar]?.size ?? -1))

const attributeRows = (table: ProjectTable, attrelid: number): Rows =>
  table.columns.map(({ name, type, nullable }, i) => ({
    attrelid,
    attname: name,
    atttypid: oidOf(type),
    attstattarget: -1,
    attlen: sizeOfColumn(type),
    attnum: i + 1,
    attndims: itemOf(type) ? 1 : 0,
    attcacheoff: -1,
    atttypmod: -1,
    attbyval: byValue(sizeOfColumn(type)),
    attstorage: 'p',
    attalign: 'i',
    attcompression: '',
    attnotnull: !nullable,
    atthasdef: false,
    atthasmissing: false,
    attidentity: '',
    attgenerated: '',
    attisdropped: false,
    attislocal: true,
    attinhcount: 0,
    attcollation: oidOf(type) === pgTypes.text.oid ? 100 : 0,
    xmin: 1,
  }))

const precisions: Partial<Record<TypeName, readonly [number, number]>> = {
  int2: [16, 2],
  int4: [32, 2],
  int8: [64, 2],
  float4: [24, 2],
  float8: [53, 2],
}

const informationColumnRows = (table: ProjectTable, database: string): Rows =>
  table.columns.map(({ name, type, nullable }, i) => {
    const [precision, radix] = precisions[type] ?? [null, type === 'numeric' ? 10 : null]
    const item = itemOf(type)
    return {
      table_catalog: database,
      table_schema: 'public',
      table_name: table.name,
      column_name: name,
      ordinal_position: i + 1,
      is_nullable: nullable ? 'YES' : 'NO',
      data_type: item ? 'ARRAY' : titleOf(type),
      numeric_precision: precision,
      numeric_precision_radix: radix,
      numeric_scale: precision === null || type.startsWith('float') ? null : 0,
      datetime_precision: /^timestamp/.test(type) ? 6 : type === 'date' ? 0 : null,
      udt_catalog: database,
      udt_schema: 'pg_catalog',
      udt_name: item ? `_${item}` : type,
      dtd_identifier: String(i + 1),
      is_self_referencing: 'NO',
      is_identity: 'NO',
      identity_cycle: 'NO',
      is_generated: 'NEVER',
      is_updatable: 'NO',
    }
  })

export interface CatalogFacts {
  readonly database: string
  readonly user: string
  readonly tables: ProjectTables
}

/** Rows by the names of tables in pg_catalog. */
export function catalogRows({ database, user, tables }: CatalogFacts): Readonly<Record<string, Rows>> {
  const oids = tableOids(tables)
  const all = [...tables.values()]
  const comments = all.flatMap((table) => {
    const of = (objsubid: number, description: string | undefined) =>
      description ? [{ objoid: oids.get(table.name)!, classoid: 1259, objsubid, description }] : []
    return [...of(0, table.comment), ...table.columns.flatMap(({ comment }, i) => of(i + 1, comment))]
  })
  const role = {
    oid: owner,
    rolname: user,
    rolsuper: false,
    rolinherit: true,
    rolcreaterole: false,
    rolcreatedb: false,
    rolcanlogin: true,
    rolreplication: false,
    rolconnlimit: -1,
    rolbypassrls: false,
  }
  return {
    pg_namespace: Object.entries(schemaOids).map(([nspname, oid]) => ({ oid, nspname, nspowner: owner })),
    pg_class: all.map((table) => classRow(table, oids.get(table.name)!)),
    pg_attribute: all.flatMap((table) => attributeRows(table, oids.get(table.name)!)),
    pg_type: typeRows(),
    pg_database: [
      {
        oid: databaseOid,
        datname: database,
        datdba: owner,
        encoding: 6,
        datlocprovider: 'c',
        datistemplate: false,
        datallowconn: true,
        datconnlimit: -1,
        datfrozenxid: 0,
        datminmxid: 0,
        dattablespace: 1663,
        datcollate: 'C.UTF-8',
        datctype: 'C.UTF-8',
      },
    ],
    pg_roles: [role],
    pg_authid: [role],
    pg_user: [{ usename: user, usesysid: owner, usecreatedb: false, usesuper: false, userepl: false, usebypassrls: false }],
    pg_tables: all
      .filter(({ kind }) => kind === 'table')
      .map(({ name }) => ({
        schemaname: 'public',
        tablename: name,
        tableowner: user,
        hasindexes: false,
        hasrules: false,
        hastriggers: false,
        rowsecurity: false,
      })),
    pg_views: all
      .filter(({ kind }) => kind === 'view')
      .map(({ name }) => ({ schemaname: 'public', viewname: name, viewowner: user, definition: '' })),
    pg_description: comments,
    pg_am: [{ oid: 2, amname: 'heap', amhandler: 'heap_tableam_handler', amtype: 't' }],
    pg_collation: [
      {
        oid: 100,
        collname: 'default',
        collnamespace: schemaOids.pg_catalog,
        collowner: owner,
        collprovider: 'd',
        collisdeterministic: true,
        collencoding: -1,
      },
    ],
    pg_tablespace: [{ oid: 1663, spcname: 'pg_default', spcowner: owner }],
    pg_language: [{ oid: 14, lanname: 'sql', lanowner: owner, lanispl: false, lanpltrusted: true }],
  }
}

/** Rows by the names of tables in information_schema. */
export function informationRows({ database, user, tables }: CatalogFacts): Readonly<Record<string, Rows>> {
  const all = [...tables.values()]
  const grants = all.map(({ name }) => ({
    grantor: user,
    grantee: user,
    table_catalog: database,
    table_schema: 'public',
    table_name: name,
    privilege_type: 'SELECT',
    is_grantable: 'NO',
    with_hierarchy: 'YES',
  }))
  return {
    tables: all.map(({ name, kind }) => ({
      table_catalog: database,
      table_schema: 'public',
      table_name: name,
      table_type: kind === 'table' ? 'BASE TABLE' : 'VIEW',
      is_insertable_into: 'NO',
      is_typed: 'NO',
    })),
    columns: all.flatMap((table) => informationColumnRows(table, database)),
    schemata: Object.keys(schemaOids).map((schema_name) => ({ catalog_name: database, schema_name, schema_owner: user })),
    views: all
      .filter(({ kind }) => kind === 'view')
      .map(({ name }) => ({
        table_catalog: database,
        table_schema: 'public',
        table_name: name,
        check_option: 'NONE',
        is_updatable: 'NO',
        is_insertable_into: 'NO',
      })),
    table_privileges: grants,
    role_table_grants: grants,
    enabled_roles: [{ role_name: user }],
    information_schema_catalog_name: [{ catalog_name: database }],
  }
}
