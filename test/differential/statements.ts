import fc from 'fast-check'

// Statements drawn along named axes, as text. Whatever is drawn has one answer: nothing depends on the order in which rows are read.

export interface Drawn {
  readonly sql: string
  /** Values of the axes that it took. */
  readonly axes: readonly string[]
}

const drawn = (sql: string, ...axes: readonly string[]): Drawn => ({ sql, axes })
const join = (parts: readonly Drawn[], separator: string): Drawn => ({
  sql: parts.map((p) => p.sql).join(separator),
  axes: parts.flatMap((p) => p.axes),
})
const one = (...values: readonly Drawn[]) => fc.constantFrom(...values)
const wrap = (
  parts: Readonly<Record<string, fc.Arbitrary<Drawn>>>,
  make: (sql: Readonly<Record<string, string>>) => Drawn,
): fc.Arbitrary<Drawn> =>
  fc.record(parts).map((found) => {
    const made = make(Object.fromEntries(Object.entries(found).map(([name, part]) => [name, part.sql])))
    return { sql: made.sql, axes: [...made.axes, ...Object.values(found).flatMap((part) => part.axes)] }
  })

const texts: fc.Arbitrary<Drawn> = one(
  drawn('e.event', 'read:event'),
  drawn('e.distinct_id', 'read:column'),
  drawn('e.properties.plan', 'read:property'),
  drawn("e.properties['odd key']", 'read:nasty key'),
  drawn('e.properties.nested.a', 'read:nested'),
  drawn('e.properties.list[1]', 'read:list'),
  drawn('e.person.properties.email', 'read:person'),
  drawn('e.pdi.person.properties.plan', 'read:chain of tables'),
  drawn('e.group_0.properties.name', 'read:group'),
  drawn('e.session.$entry_pathname', 'read:session'),
  drawn('e.$session_id', 'read:session id'),
  drawn("'a'", 'read:constant'),
  drawn('null', 'read:null'),
)
const numbers: fc.Arbitrary<Drawn> = one(
  drawn('e.properties.price', 'read:typed number'),
  drawn('toFloat(e.properties.n)', 'read:converted number'),
  drawn('e.properties.n', 'read:number of its own'),
  drawn('e.properties.i', 'read:unique number'),
  drawn('e.session.$session_duration', 'read:duration'),
  drawn('3', 'read:integer'),
  drawn('1.5', 'read:float'),
)
const times: fc.Arbitrary<Drawn> = one(
  drawn('e.timestamp', 'time:column'),
  drawn('toStartOfHour(e.timestamp)', 'time:hour'),
  drawn('toStartOfDay(e.timestamp)', 'time:day'),
  drawn('toStartOfWeek(e.timestamp)', 'time:week'),
  drawn('toStartOfMonth(e.timestamp)', 'time:month'),
  drawn('toDate(e.timestamp)', 'time:date'),
  drawn('e.timestamp + interval 1 day', 'time:shifted'),
)

const textOf: fc.Arbitrary<Drawn> = fc.oneof(
  { weight: 4, arbitrary: texts },
  wrap({ a: texts }, ({ a }) => drawn(`upper(${a})`, 'text:upper')),
  wrap({ a: texts, b: texts }, ({ a, b }) => drawn(`concat(${a}, '-', ${b})`, 'text:concat')),
  wrap({ a: texts, b: texts }, ({ a, b }) => drawn(`coalesce(${a}, ${b}, 'none')`, 'text:coalesce')),
  wrap({ a: texts }, ({ a }) => drawn(`substring(${a}, 1, 2)`, 'text:substring')),
  wrap({ a: numbers }, ({ a }) => drawn(`toString(toInt(${a}))`, 'text:of number')),
  wrap({ a: texts, b: texts, c: fc.constant(drawn('')) }, ({ a, b }) => drawn(`if(${a} = ${b}, 'same', 'other')`, 'text:if')),
)
const numberOf: fc.Arbitrary<Drawn> = fc.oneof(
  { weight: 3, arbitrary: numbers },
  wrap({ a: numbers, b: numbers }, ({ a, b }) => drawn(`(${a} + ${b})`, 'number:plus')),
  wrap({ a: numbers, b: numbers }, ({ a, b }) => drawn(`(${a} * 2 - ${b})`, 'number:times')),
  wrap({ a: numbers }, ({ a }) => drawn(`(${a} / 4)`, 'number:divide')),
  wrap({ a: texts }, ({ a }) => drawn(`length(coalesce(${a}, ''))`, 'number:length')),
  wrap({ t: times }, ({ t }) => drawn(`toDayOfWeek(${t})`, 'number:weekday')),
  fc.constant(drawn('toHour(e.timestamp)', 'number:hour')),
)

const compare = fc.constantFrom('=', '!=', '<', '<=', '>', '>=')
const comparison = (of: fc.Arbitrary<Drawn>, axis: string) =>
  fc
    .tuple(of, compare, of)
    .map(([a, op, b]): Drawn => ({ sql: `(${a.sql} ${op} ${b.sql})`, axes: [...a.axes, ...b.axes, `compare:${axis} ${op}`] }))
const simpleConditions: fc.Arbitrary<Drawn> = fc.oneof(
  comparison(textOf, 'text'),
  comparison(numberOf, 'number'),
  fc
    .tuple(
      times,
      compare,
      fc.constantFrom("'2024-03-10'", "'2024-03-10 02:30:00'", "'2024-03-10T07:00:00Z'", "'2024-03-31 01:15:00+02:00'"),
    )
    .map(([t, op, at]): Drawn => ({ sql: `(${t.sql} ${op} ${at})`, axes: [...t.axes, `compare:time ${op}`] })),
  wrap({ a: textOf }, ({ a }) => drawn(`(${a} in ('pro', 'free', '', null))`, 'where:in with null')),
  wrap({ a: textOf }, ({ a }) => drawn(`(${a} not in ('pro', 'view'))`, 'where:not in')),
  wrap({ a: textOf }, ({ a }) => drawn(`(${a} like '%o%')`, 'where:like')),
  wrap({ a: textOf }, ({ a }) => drawn(`(${a} not ilike '%P%')`, 'where:not ilike')),
  wrap({ a: textOf }, ({ a }) => drawn(`(${a} =~ '^[a-p]')`, 'where:regex')),
  wrap({ a: textOf }, ({ a }) => drawn(`(${a} is null)`, 'where:is null')),
  wrap({ a: numberOf }, ({ a }) => drawn(`(${a} between 1 and 10)`, 'where:between')),
  one(
    drawn("(e.event = 'view')", 'where:event name'),
    drawn("(e.event != 'buy')", 'where:other event names'),
    drawn("(e.event in ('view', 'nothing'))", 'where:event names'),
    drawn("(e.event = 'nothing')", 'where:unknown event'),
    drawn('(e.person_id in cohort 1)', 'where:cohort'),
    drawn("(e.person_id in (select id from persons where properties.plan = 'pro'))", 'where:in query'),
    drawn('(e.properties.price in (select toFloat(number) from numbers(5)))', 'where:in query of numbers'),
  ),
)
const conditions: fc.Arbitrary<Drawn> = fc.oneof(
  { weight: 3, arbitrary: simpleConditions },
  wrap({ a: simpleConditions, b: simpleConditions }, ({ a, b }) => drawn(`(${a} and ${b})`, 'where:and')),
  wrap({ a: simpleConditions, b: simpleConditions }, ({ a, b }) => drawn(`(${a} or ${b})`, 'where:or')),
  wrap({ a: simpleConditions }, ({ a }) => drawn(`(not ${a})`, 'where:not')),
)

const keys: fc.Arbitrary<Drawn> = fc.oneof(textOf, times, numberOf, conditions)
const aggregates: fc.Arbitrary<Drawn> = fc.oneof(
  one(
    drawn('count()', 'aggregate:count'),
    drawn('uniq(e.person_id)', 'aggregate:persons'),
    drawn('min(e.timestamp)', 'aggregate:min time'),
  ),
  wrap({ a: textOf }, ({ a }) => drawn(`count(distinct ${a})`, 'aggregate:count distinct')),
  wrap({ a: textOf }, ({ a }) => drawn(`count(${a})`, 'aggregate:count values')),
  wrap({ a: numberOf }, ({ a }) => drawn(`sum(${a})`, 'aggregate:sum')),
  wrap({ a: numberOf }, ({ a }) => drawn(`avg(${a})`, 'aggregate:avg')),
  wrap({ a: textOf }, ({ a }) => drawn(`max(${a})`, 'aggregate:max text')),
  wrap({ a: numberOf }, ({ a }) => drawn(`min(${a})`, 'aggregate:min number')),
  wrap({ c: conditions }, ({ c }) => drawn(`countIf(${c})`, 'aggregate:countIf')),
  wrap({ a: numberOf, c: conditions }, ({ a, c }) => drawn(`sumIf(${a}, ${c})`, 'aggregate:sumIf')),
  wrap({ a: numberOf }, ({ a }) => drawn(`quantile(0.75)(${a})`, 'aggregate:quantile')),
  wrap({ a: textOf }, ({ a }) => drawn(`argMax(${a}, e.properties.i)`, 'aggregate:argMax')),
)

const where = fc.option(conditions, { nil: null, freq: 3 })
const from: fc.Arbitrary<Drawn> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(drawn('events e', 'from:events')) },
  {
    weight: 1,
    arbitrary: one(
      ...['0.5', '1/3', '25 percent', '0.5 offset 0.25', '1'].map((share) =>
        drawn(`events e sample ${share}`, 'from:sample', `sample:${share}`),
      ),
    ),
  },
  { weight: 1, arbitrary: fc.constant(drawn('events e left join persons p on e.person_id = p.id', 'from:left join')) },
  { weight: 1, arbitrary: fc.constant(drawn('events e join person_distinct_ids d on e.distinct_id = d.distinct_id', 'from:join')) },
)
const named = (items: readonly Drawn[], prefix: string) =>
  items.map((item, i): Drawn => ({ sql: `${item.sql} as ${prefix}${i}`, axes: item.axes }))

const plainSelect: fc.Arbitrary<Drawn> = fc
  .record({
    items: fc.array(keys, { minLength: 1, maxLength: 3 }),
    from,
    where,
    distinct: fc.boolean(),
    limit: fc.option(fc.integer({ min: 0, max: 7 })),
  })
  .map(({ items, from: source, where: condition, distinct, limit }) => {
    const columns = join(named(items, 'c'), ', ')
    const filter = condition ? ` where ${condition.sql}` : ''
    const isLimited = limit !== null && !distinct
    const tail = isLimited ? ` order by e.properties.i desc limit ${limit} offset 1` : ''
    return drawn(
      `select ${distinct ? 'distinct ' : ''}${columns.sql} from ${source.sql}${filter}${tail}`,
      'shape:plain',
      ...(distinct ? ['select:distinct'] : []),
      ...(isLimited ? ['select:limit'] : []),
      ...columns.axes,
      ...source.axes,
      ...(condition?.axes ?? []),
    )
  })

// ClickHouse finds out that some keys are constants, and then leaves their totals out.
const changingKeys = one(
  drawn('e.event', 'read:event'),
  drawn('e.properties.plan', 'read:property'),
  drawn('e.person.properties.plan', 'read:person'),
  drawn('toStartOfDay(e.timestamp)', 'time:day'),
)
const groupings = fc.oneof(
  fc.record({ mode: fc.constantFrom('alias', 'alias', 'position'), by: fc.array(keys, { maxLength: 2 }) }),
  fc.record({ mode: fc.constantFrom('rollup', 'cube'), by: fc.uniqueArray(changingKeys, { minLength: 1, maxLength: 2 }) }),
)
const groupedSelect: fc.Arbitrary<Drawn> = fc
  .record({
    grouping: groupings,
    values: fc.array(aggregates, { minLength: 1, maxLength: 2 }),
    from,
    where,
    having: fc.boolean(),
  })
  .map(({ grouping: { by, mode }, values, from: source, where: condition, having }) => {
    const columns = join([...named(by, 'k'), ...named(values, 'v')], ', ')
    const list = by.map((_, i) => (mode === 'position' ? `${i + 1}` : `k${i}`)).join(', ')
    const groups = by.length === 0 ? '' : mode === 'rollup' || mode === 'cube' ? ` group by ${mode}(${list})` : ` group by ${list}`
    return drawn(
      `select ${columns.sql} from ${source.sql}${condition ? ` where ${condition.sql}` : ''}${groups}${having ? ' having count() > 1' : ''}`,
      'shape:grouped',
      `group:${by.length === 0 ? 'none' : mode}`,
      ...(having ? ['group:having'] : []),
      ...columns.axes,
      ...source.axes,
      ...(condition?.axes ?? []),
    )
  })

const windowSelect: fc.Arbitrary<Drawn> = fc
  .record({
    key: textOf,
    value: numberOf,
    call: fc.constantFrom('row_number()', 'rank()', 'sum(x)', 'count()', 'max(x)', 'lag(x)', 'first_value(x)'),
    frame: fc.constantFrom('', ' rows between 1 preceding and current row', ' rows between unbounded preceding and unbounded following'),
    where,
  })
  .map(({ key, value, call, frame, where: condition }) => {
    const isFramed = !/row_number|rank|lag/.test(call)
    const inner = `select ${key.sql} as k, ${value.sql} as x, e.properties.i as i from events e${condition ? ` where ${condition.sql}` : ''}`
    return drawn(
      `select k, i, ${call} over (partition by k order by i${isFramed ? frame : ''}) as w from (${inner})`,
      'shape:window',
      `window:${call}`,
      ...(isFramed ? [`frame:${frame || 'default'}`] : []),
      ...key.axes,
      ...value.axes,
      ...(condition?.axes ?? []),
    )
  })

const oneColumn = fc.record({ item: textOf, where }).map(({ item, where: condition }) => ({
  sql: `select ${item.sql} as c from events e${condition ? ` where ${condition.sql}` : ''}`,
  axes: [...item.axes, ...(condition?.axes ?? [])],
}))
const setSelect: fc.Arbitrary<Drawn> = fc
  .record({ a: oneColumn, b: oneColumn, op: fc.constantFrom('union all', 'union distinct', 'intersect', 'except') })
  .map(({ a, b, op }) => drawn(`${a.sql} ${op} ${b.sql}`, 'shape:set', `set:${op}`, ...a.axes, ...b.axes))

const nestedSelect: fc.Arbitrary<Drawn> = fc
  .record({ inner: groupedSelect.filter(({ axes }) => axes.includes('group:alias')), form: fc.constantFrom('subquery', 'cte', 'join') })
  .map(({ inner, form }) => {
    const axes = ['shape:nested', `nested:${form}`, ...inner.axes]
    if (form === 'subquery') return drawn(`select count() as n, count(distinct k0) as d from (${inner.sql})`, ...axes)
    if (form === 'cte') return drawn(`with t as (${inner.sql}) select k0, v0 from t where k0 is not null`, ...axes)
    return drawn(
      `select e.event as event, count() as n, count(t.v0) as m from events e left join (${inner.sql}) t on e.event = toString(t.k0) group by event`,
      ...axes,
    )
  })

const arraySelect: fc.Arbitrary<Drawn> = fc
  .record({ a: textOf, b: textOf, where })
  .map(({ a, b, where: condition }) =>
    drawn(
      `select arrayJoin([${a.sql}, ${b.sql}]) as item, count() as n from events e${condition ? ` where ${condition.sql}` : ''} group by item`,
      'shape:arrayJoin',
      ...a.axes,
      ...b.axes,
      ...(condition?.axes ?? []),
    ),
  )
const sessionSelect: fc.Arbitrary<Drawn> = fc
  .record({
    columns: fc.uniqueArray(
      fc.constantFrom(
        'session_id',
        '$start_timestamp',
        '$end_timestamp',
        'duration',
        '$is_bounce',
        '$entry_current_url',
        '$end_pathname',
        '$pageview_count',
        '$entry_utm_source',
        '$channel_type',
        '$num_uniq_urls',
        '$entry_has_gclid',
        '$entry_hostname',
      ),
      { minLength: 1, maxLength: 4 },
    ),
    bounces: fc.boolean(),
  })
  .map(({ columns, bounces }) =>
    drawn(
      `select ${columns.join(', ')} from sessions${bounces ? ' where $is_bounce' : ''}`,
      'shape:sessions',
      ...columns.map((name) => `session:${name}`),
    ),
  )
const limitBySelect: fc.Arbitrary<Drawn> = fc
  .record({ key: textOf, n: fc.integer({ min: 1, max: 3 }), where })
  .map(({ key, n, where: condition }) =>
    drawn(
      `select ${key.sql} as k, e.properties.i as i from events e${condition ? ` where ${condition.sql}` : ''} order by i limit ${n} by k`,
      'shape:limit by',
      ...key.axes,
      ...(condition?.axes ?? []),
    ),
  )

const qualifySelect: fc.Arbitrary<Drawn> = fc
  .record({
    key: textOf,
    test: fc.constantFrom(
      'row_number() over (partition by k order by i) <= 2',
      'rank() over (partition by k order by e.event) = 1',
      'count() over (partition by k) > 9',
      'i = max(i) over (partition by k)',
    ),
    distinct: fc.boolean(),
    where,
  })
  .map(({ key, test, distinct, where: condition }) =>
    drawn(
      `select ${distinct ? 'distinct ' : ''}${key.sql} as k, e.properties.i as i from events e${condition ? ` where ${condition.sql}` : ''} qualify ${test}`,
      'shape:qualify',
      `qualify:${test.replace(/\(.*/, '')}`,
      ...(distinct ? ['select:distinct'] : []),
      ...key.axes,
      ...(condition?.axes ?? []),
    ),
  )

const pivotSelect: fc.Arbitrary<Drawn> = fc
  .record({
    key: textOf,
    value: numberOf,
    call: fc.constantFrom('count()', 'sum(x)', 'min(x)', 'max(x)', 'count(x)', 'count() as n, max(x) as m'),
    where,
  })
  .map(({ key, value, call, where: condition }) =>
    drawn(
      `select * from (select ${key.sql} as k, ${value.sql} as x, e.event as event from events e${condition ? ` where ${condition.sql}` : ''}) pivot (${call} for event in ('view', 'buy' as bought, 'nothing') group by k)`,
      'shape:pivot',
      `pivot:${call}`,
      ...key.axes,
      ...value.axes,
      ...(condition?.axes ?? []),
    ),
  )
const unpivotSelect: fc.Arbitrary<Drawn> = fc
  .record({ a: textOf, b: textOf, nulls: fc.boolean(), where })
  .map(({ a, b, nulls, where: condition }) =>
    drawn(
      `select n, v, i from (select ${a.sql} as a, ${b.sql} as b, e.properties.i as i from events e${condition ? ` where ${condition.sql}` : ''}) unpivot ${nulls ? 'include nulls ' : ''}(v for n in (a, b as other))`,
      'shape:unpivot',
      `unpivot:${nulls ? 'nulls' : 'values'}`,
      ...a.axes,
      ...b.axes,
      ...(condition?.axes ?? []),
    ),
  )

const columnsSelect: fc.Arbitrary<Drawn> = fc
  .record({
    a: keys,
    b: textOf,
    list: fc.constantFrom(
      "columns('^k')",
      'columns(k1, i)',
      '* exclude (k0)',
      '* exclude (k0, i)',
      "* replace (concat('-', k1) as k1)",
      '* exclude (k0) replace (i + 1 as i)',
      't.*',
    ),
    where,
  })
  .map(({ a, b, list, where: condition }) =>
    drawn(
      `select ${list} from (select ${a.sql} as k0, ${b.sql} as k1, e.properties.i as i from events e${condition ? ` where ${condition.sql}` : ''}) t`,
      'shape:columns',
      `columns:${list}`,
      ...a.axes,
      ...b.axes,
      ...(condition?.axes ?? []),
    ),
  )

const recursiveSelect: fc.Arbitrary<Drawn> = fc
  .record({ key: textOf, step: fc.constantFrom('7', '25'), form: fc.constantFrom('groups', 'rows', 'join'), where })
  .map(({ key, step, form, where: condition }) => {
    const base = `select e.properties.i as n, ${key.sql} as k from events e${condition ? ` where ${condition.sql}` : ''}`
    const tree = `with recursive t as (${base} union all select n + ${step}, k from t where n < 60)`
    const axes = ['shape:recursive', `recursive:${form}`, ...key.axes, ...(condition?.axes ?? [])]
    if (form === 'groups') return drawn(`${tree} select k, count() as c, max(n) as m from t group by k`, ...axes)
    if (form === 'rows') return drawn(`${tree} select distinct n, k from t where n > 30`, ...axes)
    return drawn(`${tree} select e.event as event, count() as c from t join events e on e.properties.i = t.n group by event`, ...axes)
  })

export const statements: fc.Arbitrary<Drawn> = fc.oneof(
  { weight: 5, arbitrary: plainSelect },
  { weight: 6, arbitrary: groupedSelect },
  { weight: 3, arbitrary: windowSelect },
  { weight: 2, arbitrary: setSelect },
  { weight: 3, arbitrary: nestedSelect },
  { weight: 1, arbitrary: arraySelect },
  { weight: 1, arbitrary: sessionSelect },
  { weight: 1, arbitrary: limitBySelect },
  { weight: 1, arbitrary: qualifySelect },
  { weight: 1, arbitrary: pivotSelect },
  { weight: 1, arbitrary: unpivotSelect },
  { weight: 1, arbitrary: columnsSelect },
  { weight: 1, arbitrary: recursiveSelect },
)
