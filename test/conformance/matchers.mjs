// Expected values: plain JSON, or an object with one matcher.

export const at = (value, pointer) =>
  pointer === ''
    ? value
    : pointer
        .slice(1)
        .split('/')
        .reduce(
          (inner, key) => (inner === null || inner === undefined ? undefined : inner[key.replace(/~1/g, '/').replace(/~0/g, '~')]),
          value,
        )

export const show = (value) => {
  const text = JSON.stringify(value)
  return text === undefined ? 'nothing' : text.length > 400 ? `${text.slice(0, 400)}…` : text
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value)
/** Properties may begin with a dollar too: only what is known by that name is a matcher. */
const isMatcher = (value) =>
  isObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((key) => Object.hasOwn(matchers, key))
const typeOf = (value) =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
const types = { int: 'integer', float: 'number', str: 'string', bool: 'boolean', list: 'array', dict: 'object' }
const units = { s: 1, m: 60, h: 3600, d: 86_400 }
const seconds = (text) =>
  typeof text === 'number'
    ? text
    : [...String(text).matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?/g)].reduce(
        (sum, [, n, unit]) => sum + Number(n) * (unit === 'ms' ? 0.001 : (units[unit] ?? 1)),
        0,
      )
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const matchers = {
  $any: () => true,
  $ne: (want, got) => !fits(want, got),
  $gt: (want, got) => typeof got === typeof want && got > want,
  $gte: (want, got) => typeof got === typeof want && got >= want,
  $lt: (want, got) => typeof got === typeof want && got < want,
  $lte: (want, got) => typeof got === typeof want && got <= want,
  $regex: (want, got) => typeof got === 'string' && new RegExp(want).test(got),
  $contains: (want, got) => (typeof got === 'string' ? got.includes(want) : Array.isArray(got) && got.some((one) => fits(want, one))),
  $not_contains: (want, got) => !matchers.$contains(want, got),
  $startswith: (want, got) => typeof got === 'string' && got.startsWith(want),
  $endswith: (want, got) => typeof got === 'string' && got.endsWith(want),
  $all: (want, got) => want.every((one) => fits(one, got)),
  $oneOf: (want, got) => want.some((one) => fits(one, got)),
  $type: (want, got) =>
    [want].flat().some((one) => {
      const wanted = types[one] ?? one
      if (wanted === 'uuid') return typeof got === 'string' && uuid.test(got)
      return typeOf(got) === wanted || (wanted === 'number' && typeof got === 'number')
    }),
  $near: ([time, tolerance], got) => Math.abs(new Date(got).getTime() - new Date(time).getTime()) <= seconds(tolerance) * 1000,
  $superset: (want, got) => isObject(got) && Object.entries(want).every(([key, value]) => fits(value, got[key])),
  $names: (want, got) => Array.isArray(got) && fits([...want].sort(), got.map((one) => one?.name).sort()),
  $aliases: (want, got) =>
    Array.isArray(got) &&
    fits(
      want,
      got.map((one) => one?.alias),
    ),
  $values_include: (want, got) => isObject(got) && [want].flat().every((one) => Object.values(got).some((value) => fits(one, value))),
  $contains_objects: (want, got) =>
    Array.isArray(got) &&
    want.every((one) => got.some((value) => isObject(value) && Object.entries(one).every(([key, inner]) => fits(inner, value[key])))),
}

/** Whether `got` is what `want` describes. `$same_as` is resolved by the caller. */
export function fits(want, got) {
  if (isMatcher(want)) return Object.entries(want).every(([name, argument]) => matchers[name](argument, got))
  if (Array.isArray(want)) return Array.isArray(got) && want.length === got.length && want.every((one, i) => fits(one, got[i]))
  if (isObject(want))
    return (
      isObject(got) &&
      Object.keys(got).length === Object.keys(want).length &&
      Object.entries(want).every(([key, value]) => fits(value, got[key]))
    )
  return want === got || (typeof want === 'number' && typeof got === 'number' && want === got)
}
