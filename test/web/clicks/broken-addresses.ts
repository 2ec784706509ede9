import type { Random } from './random.ts'

// Addresses that do not exist, near one that does.

const anId = /^(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z0-9]{8})$/

const otherId = (id: string): string => {
  if (/^\d+$/.test(id)) return '987654'
  const last = id.at(-1)!
  return `${id.slice(0, -1)}${last === '0' ? '1' : '0'}`
}

/** One that differs in its page, its project, its id or its end. `address`: behind `#/`, such as `project/2/live`. */
export function brokenAddress(address: string, random: Random): string {
  const [path = ''] = address.split('?')
  const parts = path.split('/')
  const ids = parts.flatMap((part, i) => (i > 2 && anId.test(part) ? [i] : []))
  const ways: (readonly [() => string, number])[] = [
    [() => `${path}/nothing-here`, 4],
    [() => [...parts.slice(0, 2), 'nothing'].join('/'), 1],
    [() => ['project', '424242', ...parts.slice(2)].join('/'), 1],
    [() => `nothing/${parts.slice(2).join('/')}`, 1],
  ]
  if (ids.length > 0) {
    const at = ids.at(-1)!
    ways.push([() => parts.map((part, i) => (i === at ? otherId(part) : part)).join('/'), 6])
  }
  return random.weighted(ways)()
}

/** What a page says where nothing is. */
export const saysNothingIsHere = `(() => {
  const said = [...document.querySelectorAll('.empty h2, [role=alert]')].map((one) => one.innerText)
  return said.some((text) => /not exist|no such|There (is|are) no|not found|cannot be opened|may not see/i.test(text))
})()`
