import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('the picker', () => {
  let web: Web
  const at = (path: string) => `${web.facts.url}/#/project/${web.demo}/${path}`

  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })

  test('an event by keyboard: the list opens, forgives, says what it knows, and Enter takes the first', async () => {
    const page = await web.signedIn()
    await page.goto(at('insights/new?kind=trends'))
    await page.getByText(/^Computed/).waitFor()
    const field = page.getByRole('combobox', { name: 'Event A', exact: true })
    const list = page.getByRole('listbox')
    await field.focus()
    expect(await list.count()).toBe(0)
    await page.keyboard.press('ArrowDown')
    // It opens at the present choice, with groups and counts.
    await list.locator('[aria-selected=true]', { hasText: /^Pageview\$pageview[\d,]+$/ }).waitFor()
    expect(await list.getByRole('group').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))).toEqual([
      null,
      'Events',
      'Events sent by client libraries',
      'Actions',
    ])
    expect(await accessibilityFindings(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.type('pruchase')
    await expect.poll(() => list.getByRole('option').allInnerTexts()).toHaveLength(2)
    const active = await field.getAttribute('aria-activedescendant')
    expect(await page.locator(`[id="${active}"]`).textContent()).toMatch(/^purchase/)
    expect(await list.getByRole('option').last().textContent()).toBe('Use “pruchase”')
    await page.keyboard.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('purchase')
    expect(await list.count()).toBe(0)
    // Escape leaves everything as it was.
    await page.keyboard.press('ArrowDown')
    await page.keyboard.type('page')
    await page.keyboard.press('Escape')
    expect([await field.inputValue(), await list.count()]).toEqual(['purchase', 0])
    // A click elsewhere takes no half of a name, and Tab takes the first find.
    await page.keyboard.type('page')
    await page.getByRole('heading', { name: 'Trends' }).click()
    await expect.poll(() => field.inputValue()).toBe('purchase')
    await field.fill('page')
    await page.keyboard.press('Tab')
    await expect.poll(() => field.inputValue()).toBe('Pageview')
    expect(await field.getAttribute('title')).toBe('$pageview')
    // Emptied, it is all events; and what nobody has sent can be asked for.
    await field.fill('')
    await page.keyboard.press('Tab')
    await expect.poll(() => field.inputValue()).toBe('')
    await field.fill('will be sent tomorrow')
    await page.keyboard.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('will be sent tomorrow')
    // What was chosen is offered first the next time.
    await page.reload()
    await page.goto(at('insights/new?kind=funnel'))
    await page.getByRole('combobox', { name: 'Event 2', exact: true }).click()
    const recent = page.getByRole('group', { name: 'Recent' }).getByRole('option')
    await expect.poll(() => recent.allInnerTexts()).toEqual([expect.stringMatching(/^Pageview/), expect.stringMatching(/^purchase/)])
    await page.context().close()
  })

  test('one list has the properties of everything, cohorts and SQL; sums offer numbers first', async () => {
    const cohort = await web.api<{ id: number }>('POST', `/api/projects/${web.demo}/cohorts/`, {
      name: 'Ours of the pro plan',
      filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] } },
    })
    const page = await web.signedIn()
    await page.goto(at('insights/new?kind=trends'))
    await page.getByText(/^Computed/).waitFor()
    await page.getByRole('group', { name: 'Who' }).getByRole('button', { name: 'Add a filter' }).click()
    // It is open at once.
    const field = page.getByRole('combobox', { name: 'Property', exact: true })
    const groups = page.getByRole('listbox').getByRole('group')
    await expect
      .poll(() => groups.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))))
      .toEqual(expect.arrayContaining(['Event properties', 'Person properties', 'Session properties', 'Cohorts', 'Anything else']))
    await page.keyboard.type('ours')
    await page.keyboard.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('Ours of the pro plan')
    await page.getByLabel('Comparison', { exact: true }).selectOption('not_in')
    const asked = async () => JSON.parse(new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('q') ?? '{}')
    await expect
      .poll(async () => (await asked()).properties)
      .toMatchObject([{ type: 'cohort', key: 'id', value: cohort.id, operator: 'not_in' }])
    await field.fill('session duration')
    await page.keyboard.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('Session duration of the session')
    await page.getByLabel('What is counted in A').selectOption('sum')
    const number = page.getByRole('combobox', { name: 'Property with numbers of A' })
    await number.click()
    const first = page.getByRole('listbox').getByRole('group').first()
    await expect.poll(() => first.getByRole('option').first().textContent()).toMatch(/^(items|amount|total|value|price)/)
    expect(await page.getByRole('group', { name: 'Event properties that are not all numbers' }).count()).toBe(1)
    await page.context().close()
  })

  test('on a telephone the list stays on the screen, by touch', async () => {
    const context = await web.browser.newContext({
      viewport: { width: 390, height: 700 },
      hasTouch: true,
      storageState: await (await web.signedIn()).context().storageState(),
    })
    const page = await context.newPage()
    await page.goto(at('insights/new?kind=trends'))
    await page.getByText(/^Computed/).waitFor()
    const field = page.getByRole('combobox', { name: 'Event A', exact: true })
    await field.scrollIntoViewIfNeeded()
    await field.tap()
    const popup = page.locator('.picker-popup')
    await popup.waitFor()
    const box = (await popup.boundingBox())!
    expect(box.x).toBeGreaterThanOrEqual(0)
    expect(box.x + box.width).toBeLessThanOrEqual(390)
    expect(box.y).toBeGreaterThanOrEqual(0)
    expect(box.y + box.height).toBeLessThanOrEqual(700)
    await page.getByRole('option', { name: /^purchase/ }).tap()
    await expect.poll(() => field.inputValue()).toBe('purchase')
    await context.close()
  })
})
