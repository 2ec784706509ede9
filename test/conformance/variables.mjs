// `{{name}}`, `{{name.field}}`, `{{name|string}}`, `{{now+1d2h|iso}}`, `{{response:/id}}` inside any text of a case.

import { at } from './matchers.mjs'

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const shift = (text) => {
  let sign = 1
  let total = 0
  for (const [, op, count, unit] of text.matchAll(/([+-])?(\d+)([smhdw])/g)) {
    if (op) sign = op === '-' ? -1 : 1
    total += sign * Number(count) * units[unit]
  }
  return total
}

const isoOf = (date) => date.toISOString().replace('.000Z', 'Z')
const filters = {
  string: (value) => String(value),
  iso: (value) => (value instanceof Date ? isoOf(value) : String(value)),
  date: (value) => (value instanceof Date ? value.toISOString().slice(0, 10) : String(value)),
  int: (value) => Number(value),
}

export class UnknownVariable extends Error {}

const lookUp = (expression, scope) => {
  const [source, ...pipes] = expression.split('|').map((part) => part.trim())
  let value
  const clock = /^now((?:\s*[+-]\s*\d[\dsmhdw]*)*)$/.exec(source)
  if (clock) value = new Date(scope.now().getTime() + shift(clock[1].replace(/\s/g, '')))
  else if (source.startsWith('response:')) value = at(scope.response, source.slice('response:'.length))
  else {
    value = source.split('.').reduce((inner, key) => (inner === null || inner === undefined ? undefined : inner[key]), scope.variables)
    if (value === undefined) throw new UnknownVariable(`nothing is called {{${source}}}`)
  }
  for (const pipe of pipes) {
    if (!Object.hasOwn(filters, pipe)) throw new UnknownVariable(`there is no filter |${pipe}`)
    value = filters[pipe](value)
  }
  return value instanceof Date ? isoOf(value) : value
}

/** The value with all its variables filled in; a text that is nothing but a variable takes the variable's own type. */
export const fill = (value, scope) => {
  if (typeof value === 'string') {
    const whole = /^\{\{([^{}]+)\}\}$/.exec(value)
    if (whole) return lookUp(whole[1], scope)
    return value.replace(/\{\{([^{}]+)\}\}/g, (_, expression) => {
      const found = lookUp(expression, scope)
      return typeof found === 'object' ? JSON.stringify(found) : String(found)
    })
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, scope))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [fill(key, scope), fill(one, scope)]))
  return value
}
