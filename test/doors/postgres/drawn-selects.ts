// SELECTs in PostgreSQL's dialect, drawn from a seed: expressions by type, groups, joins, set operations, windows, subqueries.

export interface Draw {
  below(n: number): number
  one<T>(all: readonly T[]): T
  chance(part: number): boolean
}

export const drawFrom = (seed: number): Draw => {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    let x = state
    x ^= x >>> 16
    x = Math.imul(x, 0x45d9f3b) >>> 0
    return (x ^ (x >>> 16)) >>> 0
  }
  const below = (n: number) => next() % n
  return { below, one: (all) => all[below(all.length)]!, chance: (part) => below(1000) < part * 1000 }
}

const columns = {
  number: ['price', 'n'],
  text: ['plan', 'distinct_id'],
  truth: ['gift'],
  time: ['timestamp'],
} as const

type Kind = keyof typeof columns

/** Expressions of a type over the columns of `buy`, at most so deep. */
export class Expressions {
  private readonly draw: Draw
  private readonly table: string

  constructor(draw: Draw, table = '') {
    this.draw = draw
    this.table = table
  }

  private column(kind: Kind): string {
    return this.table + this.draw.one(columns[kind])
  }

  of(kind: Kind, depth: number): string {
    return this[kind](depth)
  }

  number(depth: number): string {
    const { draw } = this
    if (depth <= 0) return draw.chance(0.7) ? this.column('number') : draw.one(['1', '2', '7', '0.5', '-3', '10'])
    const x = () => this.number(depth - 1)
    return draw.one([
      () => `(${x()} + ${x()})`,
      () => `(${x()} - ${x()})`,
      () => `(${x()} * ${draw.one(['2', '3', '0.5'])})`,
      () => `(${x()} / ${draw.one(['2', '4', '0.5'])})`,
      () => `(${draw.one(['5', '7', '-7', '9'])} / ${draw.one(['2', '3', '-2'])})`,
      () => `(${this.column('number')}::int % ${draw.one(['2', '3'])})`,
      () => `(${this.column('number')}::int / ${draw.one(['2', '3'])})`,
      () => `abs(${x()})`,
      () => `${draw.one(['floor', 'ceil', 'round'])}(${this.column('number')})`,
      () => `coalesce(${x()}, ${draw.one(['0', '1.5'])})`,
      () => `nullif(${this.column('number')}, ${draw.one(['1', '2', '5'])})`,
      () => `greatest(${x()}, ${x()})`,
      () => `least(${x()}, ${draw.one(['1', '4'])})`,
      () => `length(${this.text(depth - 1)})`,
      () =>
        `extract(${draw.one(['year', 'month', 'day', 'dow', 'isodow', 'doy', 'hour', 'minute', 'quarter', 'week', 'epoch'])} from ${this.time(depth - 1)})`,
      () => `case when ${this.truth(depth - 1)} then ${x()} else ${x()} end`,
      () => `case when ${this.truth(depth - 1)} then ${x()} end`,
      () => `(${this.truth(depth - 1)})::int`,
      () => `(timestamp::date - date '2024-02-28')`.replace('timestamp', this.column('time')),
    ])()
  }

  text(depth: number): string {
    const { draw } = this
    if (depth <= 0) return draw.chance(0.8) ? this.column('text') : draw.one(["'x'", "'pro'", "'it''s'", "'a\\b'"])
    const x = () => this.text(depth - 1)
    return draw.one([
      () => `(${x()} || ${x()})`,
      () => `${draw.one(['upper', 'lower', 'initcap', 'reverse', 'trim'])}(${x()})`,
      () => `substring(${x()} from ${draw.one(['1', '2'])} for ${draw.one(['1', '3'])})`,
      () => `left(${x()}, 2)`,
      () => `right(${x()}, 2)`,
      () => `replace(${x()}, 'r', 'RR')`,
      () => `coalesce(${x()}, 'none')`,
      () => `concat(${x()}, '-', ${this.column('number')}::int)`,
      () => `split_part(${this.column('text')}, 'r', 1)`,
      () => `to_char(${this.column('time')}, '${draw.one(['YYYY-MM', 'YYYY-MM-DD HH24:MI:SS', 'DD.MM.YY', 'Mon', 'YYYY"q"Q'])}')`,
      () => `case ${this.column('text')} when 'pro' then ${x()} else 'other' end`,
      () => `${this.column('number')}::int::text`,
      () => `lpad(${this.column('text')}, 5, '*')`,
    ])()
  }

  time(depth: number): string {
    const { draw } = this
    if (depth <= 0) return this.column('time')
    const x = () => this.time(depth - 1)
    return draw.one([
      () => `date_trunc('${draw.one(['hour', 'day', 'week', 'month', 'quarter', 'year', 'minute'])}', ${x()})`,
      () => `(${x()} + interval '${draw.one(['1 day', '2 hours', '1 month', '90 minutes', '1 day 02:00:00'])}')`,
      () => `(${x()} - interval '${draw.one(['1 week', '1 second', '3 months'])}')`,
      () => `(${this.column('time')} at time zone 'UTC')::timestamptz`,
      () => `coalesce(${x()}, timestamp '2024-01-01 00:00:00')`,
    ])()
  }

  truth(depth: number): string {
    const { draw } = this
    if (depth <= 0)
      return draw.chance(0.3)
        ? this.column('truth')
        : `${this.column('number')} ${draw.one(['=', '<>', '<', '>', '<=', '>='])} ${draw.one(['1', '5', '2.5'])}`
    const x = () => this.truth(depth - 1)
    return draw.one([
      () => `(${x()} and ${x()})`,
      () => `(${x()} or ${x()})`,
      () => `(not ${x()})`,
      () => `(${this.number(depth - 1)} ${draw.one(['=', '<>', '<', '>='])} ${this.number(depth - 1)})`,
      () => `(${this.text(depth - 1)} ${draw.one(['=', '<>', '<', '>='])} ${this.text(depth - 1)})`,
      () =>
        `(${this.time(depth - 1)} ${draw.one(['<', '>=', '='])} ${draw.one(["'2024-03-01'", "timestamp '2024-03-02 10:00:00'", "date '2024-03-03'", this.time(0)])})`,
      () => `(${this.text(depth - 1)} is ${draw.one(['', 'not '])}null)`,
      () => `(${this.number(depth - 1)} is ${draw.one(['', 'not '])}null)`,
      () => `(${this.column('text')} ${draw.one(['like', 'not like', 'ilike'])} '${draw.one(['p%', '%R%', '_r_', '%'])}')`,
      () => `(${this.column('text')} ${draw.one(['like', 'not like'])} '${draw.one(['p!%', 'p!_o', '%!!', '!p%', 'p%'])}' escape '!')`,
      () =>
        `(${this.column('text')} ${draw.one(['similar to', 'not similar to'])} '${draw.one(['p%', 'p', '(pro|free)', '[a-p]+%', '_r{1,2}e+', '%[[:alpha:]]', 'p.o', '\\%p%'])}')`,
      () => `(${this.column('text')} ${draw.one(['~', '!~', '~*'])} '${draw.one(['^p', 'R', 'o$'])}')`,
      () => `(${this.column('text')} ${draw.one(['in', 'not in'])} (${draw.one(["'pro', 'free'", "'x'", "'pro', null"])}))`,
      () => `(${this.number(depth - 1)} ${draw.one(['between', 'not between'])} 1 and 6)`,
      () => `(${this.column('truth')} is ${draw.one(['true', 'not true', 'false', 'not false', 'unknown'])})`,
      () => `(${this.column('text')} is ${draw.one(['', 'not '])}distinct from ${draw.one(["'pro'", 'null', this.column('text')])})`,
      () => `(${this.column('text')} = any(array['pro', 'basic']))`,
    ])()
  }

  any(depth: number): string {
    return this.of(this.draw.one(['number', 'text', 'time', 'truth'] as const), depth)
  }
}

const list = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i))
const positions = (count: number, draw: Draw) =>
  list(count, (i) => `${i + 1}${draw.one(['', ' desc', ' asc', ' nulls first', ' desc nulls last'])}`).join(', ')

export function drawnSelect(draw: Draw): string {
  const x = new Expressions(draw)
  const aggregate = () =>
    draw.one([
      () => 'count(*)',
      () => `count(${x.any(1)})`,
      () => `count(distinct ${x.text(1)})`,
      () => `sum(${x.number(1)})`,
      () => `avg(${x.number(1)})`,
      () => `min(${x.of(draw.one(['number', 'text', 'time'] as const), 1)})`,
      () => `max(${x.of(draw.one(['number', 'text', 'time'] as const), 1)})`,
      () => `sum(${x.number(1)}) filter (where ${x.truth(1)})`,
      () => `count(*) filter (where ${x.truth(1)})`,
      () => `bool_or(${x.truth(1)})`,
      () => `bool_and(${x.truth(1)})`,
      () => `string_agg(plan, ',' order by plan, timestamp)`,
      () => `stddev(${x.number(0)})`,
      () => `sum(case when ${x.truth(1)} then 1 else 0 end)`,
    ])()
  const where = () => (draw.chance(0.6) ? ` where ${x.truth(2)}` : '')
  return draw.one([
    () => {
      const count = 1 + draw.below(3)
      const limit = draw.chance(0.4) ? ` limit ${draw.one(['1', '3'])}${draw.chance(0.5) ? ' offset 1' : ''}` : ''
      return `select ${draw.chance(0.2) ? 'distinct ' : ''}${list(count, (i) => `${x.any(2)} as c${i}`).join(', ')} from buy${where()} order by ${positions(count, draw)}${limit}`
    },
    () => {
      const keys = list(1 + draw.below(2), () => x.any(1))
      const having = draw.chance(0.3) ? ` having ${aggregate()} is not null` : ''
      return `select ${[...keys, aggregate(), aggregate()].join(', ')} from buy${where()} group by ${keys.map((_, i) => i + 1).join(', ')}${having} order by ${positions(keys.length, draw)}`
    },
    () => {
      const keys = ['plan', 'gift', 'n']
      const groups = draw.one([
        'rollup(plan, gift)',
        'rollup((plan, gift), n)',
        'cube(plan, gift)',
        'grouping sets ((plan), (gift, n), ())',
        'plan, rollup(gift, n)',
        'rollup(plan), cube(gift)',
        'grouping sets (plan, rollup(gift, n), ())',
        'plan, (gift, n)',
      ])
      return `select ${keys.filter((key) => new RegExp(`\\b${key}\\b`).test(groups)).join(', ')}, ${aggregate()}, count(*) from buy${where()} group by ${groups} having count(*) > 0`
    },
    () => {
      const keys = draw.one(['n', 'plan', 'plan, gift', 'gift, n'])
      return `select ${keys} from buy${where()} order by ${keys} ${draw.one(['', 'offset 1 '])}fetch first ${draw.one(['1', '2'])} rows with ties`
    },
    () => `select ${aggregate()}, ${aggregate()}, ${aggregate()} from buy${where()}`,
    () =>
      `select a.plan, b.event, ${new Expressions(draw, 'a.').number(1)} from buy a ${draw.one(['join', 'left join', 'right join', 'full join'])} events b on a.distinct_id = b.distinct_id${draw.chance(0.4) ? " and b.event = 'view'" : ''}`,
    () =>
      `select ${x.text(1)} as t from buy ${draw.one(['union', 'union all', 'intersect', 'except'])} select ${draw.one(['plan', 'distinct_id', 'event'])} from ${draw.one(['buy', 'view'])}`
        .replace(/event from buy/, 'plan from buy')
        .replace(/(plan|event) from view/, 'distinct_id from view'),
    () =>
      `select plan, timestamp, ${draw.one(['row_number()', 'rank()', 'sum(price)', 'count(*)', 'lag(price)', 'max(n)'])} over (${draw.chance(0.6) ? 'partition by plan ' : ''}order by timestamp, uuid) from buy`,
    () =>
      `with t as (select plan, count(*) as k, sum(price) as s from buy${where()} group by plan) select plan, k, s / k from t where k >= 1 order by plan`,
    () =>
      `select event, count(*) from events where distinct_id ${draw.one(['in', 'not in'])} (select distinct_id from buy${where()}) group by event order by 1`,
    () =>
      `select count(*) from events e where ${draw.one(['', 'not '])}exists (select 1 from buy b where b.distinct_id = e.distinct_id and b.price > ${draw.one(['1', '5'])})`,
    () =>
      `select s.plan, s.m from (select plan, max(price) as m from buy group by plan) s where s.m ${draw.one(['>', '<=', '<>'])} 5 or s.plan is null`,
    () =>
      `select k, (select max(price) from buy) from (values (1, 'a'), (2, null)) as v(k, t) where t is ${draw.one(['null', 'not null'])}`,
  ])()
}
