import type { ElementHandle, Page } from 'playwright-core'

// What a person can use on a page, in the order of the page.

export type Kind = 'navigation' | 'link' | 'number' | 'point' | 'button' | 'select' | 'field' | 'summary'

export interface Control {
  readonly index: number
  readonly kind: Kind
  readonly tag: string
  readonly type: string
  readonly name: string
  /** What opens or shows more without another address: a tab, an unfolded row, more rows. */
  readonly isLocal: boolean
  readonly options: readonly string[]
  readonly suggestions: readonly string[]
}

/** Left alone: what ends the session or the whole project, leaves the page for another site, or reaches another server. */
const untouched =
  /^(Sign out|Add a tag|Leave|Give up|Full screen|Print|Rotate|Delete the project|Reset|Install|Check for|Update|Test|Ask again|Verify|Begin|Create export|Send)|everywhere else/i

const collect = `(() => {
  const dialogs = document.querySelectorAll('dialog[open]')
  const scope = dialogs[dialogs.length - 1] ?? document
  const text = (value) => (value ?? '').replace(/\\s+/g, ' ').trim().slice(0, 80)
  const labelOf = (one) => text(
    one.getAttribute('aria-label') ?? ([...(one.labels ?? [])].map((label) => label.innerText).join(' ') || one.innerText || one.placeholder || one.title || one.name))
  const shown = (one) => {
    const box = one.getBoundingClientRect()
    return box.width > 1 && box.height > 1 && one.checkVisibility({ visibilityProperty: true }) && !one.closest('[inert]')
  }
  const kindOf = (one) => {
    if (one.matches('nav[aria-label=Pages] a')) return 'navigation'
    if (one.matches('a')) return 'link'
    if (one.matches('.result button.cell')) return 'number'
    if (one.matches('[data-pick], [role=slider]')) return 'point'
    if (one.matches('button, [role=option]')) return 'button'
    if (one.matches('select')) return 'select'
    return one.matches('summary') ? 'summary' : 'field'
  }
  const nodes = [...scope.querySelectorAll('a[href], button, select, input, textarea, summary, [role=slider], .can-pick [data-pick], .code-host')]
    .filter((one) => shown(one) && !one.disabled && one.getAttribute('aria-disabled') !== 'true' && !one.readOnly)
    .filter((one) => !one.matches('a') || /^#\\//.test(one.getAttribute('href')))
    .filter((one) => !one.matches('input[type=file], input[type=password], input[type=hidden]'))
  const controls = nodes.map((one, index) => ({
    index,
    kind: kindOf(one),
    tag: one.tagName.toLowerCase(),
    type: one.matches('.code-host') ? 'code' : one.type ?? one.getAttribute('role') ?? '',
    name: labelOf(one) || text(one.getAttribute('data-pick')),
    isLocal: /^Cop(y|ied)/.test(labelOf(one)) || one.matches('summary, [role=tab]:not([href]), [aria-expanded], [aria-pressed], [aria-label=Run] button, .pager button, button.add, button.past, [role=slider], form input, form select, form textarea, form button, aside.side *'),
    options: one.tagName === 'SELECT' ? [...one.options].map(({ value }) => value) : [],
    suggestions: one.list ? [...one.list.options].slice(0, 12).map(({ value }) => value) : [],
  }))
  globalThis.walked = nodes
  return controls
})()`

export async function controlsOf(page: Page): Promise<readonly Control[]> {
  const all = await page.evaluate<readonly Control[]>(collect)
  return all.filter(({ name }) => !untouched.test(name))
}

export async function elementOf(page: Page, { index }: Control): Promise<ElementHandle> {
  const handle = await page.evaluateHandle(`globalThis.walked[${index}]`)
  const element = handle.asElement()
  if (!element) throw new Error('the control has gone')
  return element
}

const texts = ['Alpha', 'x', 'Größe 漢字 🙂', '<b>bold</b>', "O'Neill", '1', '%_', 'a, b', `${'long '.repeat(30)}end`]
const searches = ['a', 'user', 'shop', 'page', 'zzzz', "'", '%', '<', '']
const numbers = ['0', '1', '3', '7', '-2', '1.5', '1000', '']
const statements = [
  'select event, count() as number from events group by event order by number desc',
  'select toStartOfDay(timestamp) as day, count() as n, count(distinct person_id) as people from events group by day order by day',
  'select * from orders limit 20',
  'select nothing from events',
  'select 1 +',
  'select properties.plan, count() from persons group by 1',
]
const dayMs = 86_400_000
const day = (ago: number) => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10)

/** Values that fit a field, more or less. */
export function valuesFor({ type, name, suggestions }: Control): readonly string[] {
  if (type === 'code') return statements
  if (type === 'number' || /how many|at least|percent|\bnumber\b/i.test(name)) return numbers
  if (type === 'date') return [day(40), day(20), day(7), day(1), day(0)]
  if (type === 'datetime-local') return [`${day(20)}T10:00`, `${day(2)}T23:30`]
  if (type === 'time') return ['00:00', '12:30']
  if (type === 'email' || /e-mail/i.test(name)) return ['grace@example.com', 'not an address']
  if (type === 'search' || /search/i.test(name)) return searches
  return suggestions.length > 0 ? [...suggestions, ...suggestions, 'nothing like this', ''] : texts
}
