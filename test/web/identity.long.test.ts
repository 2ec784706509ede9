import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openUserMenu, openWeb, settled, type Web } from './browser.ts'
import { pagePaths } from './page-paths.ts'

// What pages have in common: their font, the least size of a text, charts at the width they have, the menu of the person, questions that read as sentences.

const trend = (more: object = {}) => ({
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: '$pageview', name: '$pageview', math: 'dau' }],
  interval: 'day',
  dateRange: { date_from: '-14d' },
  trendsFilter: { display: 'ActionsLineGraph' },
  ...more,
})

describe.skipIf(!hasBrowser)('how pages look', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(async () => {
    await web.close()
    expect(web.complaints).toEqual([])
  })
  const open = async (page: Page, path: string) => {
    await page.goto(`${web.facts.url}/#/project/${web.demo}/${path}`)
    await page.locator('main').getByRole('heading').first().waitFor()
    await settled(page)
  }
  const insight = (query: object) => `insights/new?${new URLSearchParams({ q: JSON.stringify(query) })}`
  const asked = (page: Page) => JSON.parse(new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('q')!) as Record<string, unknown>

  test('the font is the one that is shipped, and the security policy lets it in', async () => {
    const page = await web.signedIn()
    await open(page, 'home')
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    const font = await page.evaluate<{ family: string; loaded: number }>(`({
      family: getComputedStyle(document.body).fontFamily,
      loaded: [...document.fonts].filter((one) => one.family.includes('Inter Variable') && one.status === 'loaded').length,
    })`)
    expect(font.family).toMatch(/^"?Inter Variable/)
    expect(font.loaded).toBeGreaterThan(0)
    await page.context().close()
  })

  test('no text of any page is smaller than 11 px, in drawings neither', async () => {
    const page = await web.signedIn()
    const small: string[] = []
    for (const path of [...pagePaths, insight(trend({ trendsFilter: { display: 'ActionsBar', showValuesOnSeries: true } }))]) {
      await open(page, path)
      await expect.poll(() => page.locator('.working').count(), { message: path }).toBe(0)
      const found = await page.evaluate<string[]>(`(() => {
        const found = []
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const around = node.parentElement
          if (node.textContent.trim() === '' || around.closest('script, style, option, title')) continue
          // A drawing that is scaled would have smaller texts than it says.
          const svg = around.closest('svg')
          const scale = svg && svg.viewBox.baseVal?.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1
          const size = parseFloat(getComputedStyle(around).fontSize) * (scale || 1)
          if (size < 10.99) found.push(size + ' ' + around.tagName + '.' + (around.className.baseVal ?? around.className) + ': ' + node.textContent.trim().slice(0, 30))
        }
        return [...new Set(found)].slice(0, 5)
      })()`)
      small.push(...found.map((one) => `${path}: ${one}`))
    }
    expect(small).toEqual([])
    await page.context().close()
  })

  test('a chart is as wide as the room that it has, and follows it', async () => {
    const page = await web.signedIn()
    await open(page, insight(trend()))
    const widths = () =>
      page.evaluate<readonly [drawn: number, room: number]>(`(() => {
        const plot = document.querySelector('.answer .plot')
        return [Number(plot.querySelector('svg[role=img]').getAttribute('width')), Math.floor(plot.getBoundingClientRect().width)]
      })()`)
    const [first, room] = await widths()
    expect(first).toBe(room)
    await page.setViewportSize({ width: 900, height: 900 })
    await expect.poll(async () => (await widths())[0]).not.toBe(first)
    await expect.poll(async () => Math.abs((await widths())[0] - (await widths())[1])).toBe(0)
    await page.context().close()
  })

  test('the menu of the person by keyboard: opened, moved in, a theme chosen, closed again', async () => {
    const page = await web.signedIn()
    await open(page, 'home')
    const menu = page.locator('.user-menu summary')
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Your account' }).waitFor()
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Your account')
    await page.keyboard.press('ArrowUp')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign out')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Your account' }).waitFor({ state: 'hidden' })
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY')
    await openUserMenu(page)
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'Dark' }).click()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await openUserMenu(page)
    expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('link', { name: 'Your account' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await page.context().close()
  })

  test('a question reads as a sentence: a word opens its list, a filter is a chip that opens its fields and folds again', async () => {
    const page = await web.signedIn()
    const filter = { type: 'event', key: '$browser', operator: 'exact', value: ['Chrome'] }
    await open(page, insight(trend({ properties: [filter] })))
    // The word is the field of the picker.
    const event = page.getByLabel('Event A', { exact: true })
    await event.click()
    await page.getByRole('option', { name: 'signed up' }).first().click()
    await expect.poll(() => JSON.stringify(asked(page).series)).toContain('signed up')
    await page.getByLabel('What is counted in A').selectOption('total')
    await expect.poll(() => JSON.stringify(asked(page).series)).toContain('"total"')
    const who = page.getByRole('group', { name: 'Who' })
    const chip = who.getByRole('button', { name: 'Browser is Chrome', exact: true })
    await chip.click()
    await who.getByLabel('Comparison').selectOption('is_not')
    await expect.poll(() => JSON.stringify(asked(page).properties)).toContain('is_not')
    // What is pressed next gets its click, though the fields above it fold.
    await who.getByRole('button', { name: '+ Add a filter' }).click()
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Property')
    await who.getByRole('button', { name: 'Browser is not Chrome', exact: true }).waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    await who.getByRole('button', { name: 'Remove the filter $browser' }).click()
    await expect.poll(() => asked(page).properties).toBe(undefined)
    await page.context().close()
  })

  test('the answer is said before it is drawn: the people of the range, and their change', async () => {
    const page = await web.signedIn()
    // Days that are over: a number and a chart of them are of the same time.
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    const compared = { compareFilter: { compare: true }, dateRange: { date_from: day(15), date_to: day(2) } }
    const query = trend({ ...compared, breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } })
    await open(page, insight(query))
    const { results } = await web.api<{ results: { aggregated_value: number; compare_label: string }[] }>(
      'POST',
      `/api/projects/${web.demo}/query/`,
      { query: { ...trend(compared), trendsFilter: { display: 'BoldNumber' } } },
    )
    const of = (period: string) => results.find((row) => row.compare_label === period)!.aggregated_value
    const said = page.getByRole('list', { name: 'In words' }).getByRole('listitem')
    await expect.poll(() => said.locator('.big').textContent()).toBe(of('current').toLocaleString('en'))
    expect(await said.locator('.note').textContent()).toMatch(
      new RegExp(`^unique people: Pageview .*was ${of('previous').toLocaleString('en')}$`),
    )
    await page.context().close()
  })
})
