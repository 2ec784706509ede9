import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

// A file from a spreadsheet, as people have it: its columns are seen, its formats understood, and what came of it can be taken back.

describe.skipIf(!hasBrowser)('importing in the browser', () => {
  let web: Web
  let folder: string
  beforeAll(async () => {
    web = await openWeb()
    folder = await mkdtemp(join(tmpdir(), 'waymark-import-'))
  })
  afterAll(async () => {
    await web.close()
    await rm(folder, { recursive: true, force: true })
  })
  const rows = async (query: string) => {
    const answer = await fetch(`${web.facts.url}/api/projects/${web.demo}/query/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${web.facts.personal_api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: { kind: 'HogQLQuery', query } }),
    })
    return ((await answer.json()) as { results: unknown[][] }).results
  }

  test('is in sight in the navigation, found by what people call it, and offered where there is no event yet', async () => {
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/home`)
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('list', { name: 'people and data' })
      .getByRole('link', { name: 'Import' })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Import' }).waitFor()
    for (const typed of ['import', 'CSV', 'upload']) {
      await page.getByRole('button', { name: /^Search or jump to/ }).click()
      await page.getByRole('combobox', { name: 'Search commands' }).fill(typed)
      const first = page.getByRole('dialog', { name: 'Commands' }).getByRole('option').first()
      await first.getByText('Go to Import').waitFor()
      expect(await first.getAttribute('aria-selected')).toBe('true')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    // Where it was before.
    await page.goto(`${web.facts.url}/#/project/${web.demo}/data/import`)
    await page.getByRole('heading', { level: 1, name: 'Import' }).waitFor()
    expect(page.url()).toMatch(/\/import$/)
    for (const path of ['home', 'live', 'data/events']) {
      await page.goto(`${web.facts.url}/#/project/${web.facts.project_id}/${path}`)
      await page
        .locator('main')
        .getByRole('link', { name: /^import a file$/i })
        .click()
      await page.getByRole('heading', { level: 1, name: 'Import' }).waitFor()
    }
    await page.close()
  })

  test('a file is dropped, or chosen with a key; of several one is taken, which is said', async () => {
    const page = await web.signedIn()
    const drop = (names: readonly string[]) =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer()
        for (const name of ${JSON.stringify(names)}) dataTransfer.items.add(new File(['event,distinct_id,timestamp\\nx,y,2026-01-01\\n'], name))
        for (const type of ['dragenter', 'drop'])
          document.querySelector('input[type=file]').dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
      })()`)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/import`)
    const field = page.getByLabel('File', { exact: true })
    await field.waitFor()
    await drop(['first.csv', 'second.csv'])
    await page.getByRole('heading', { name: 'first.csv is read as a table (CSV)' }).waitFor()
    await page.getByText('One file at a time: the other one was left out.').waitFor()
    expect(await accessibilityFindings(page)).toEqual([])
    // The same one again, by keyboard.
    const outline = () => page.evaluate("getComputedStyle(document.querySelector('.file-field')).outlineStyle")
    await field.focus()
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Tab')
    expect(await outline(), 'the focus is seen').toBe('solid')
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), field.press('Enter')])
    await chooser.setFiles({
      name: 'third.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('event,distinct_id,timestamp\nx,y,2026-01-01\n'),
    })
    await page.getByRole('heading', { name: 'third.csv is read as a table (CSV)' }).waitFor()

    // In a form the name stays, and the file can be taken back.
    await page.goto(`${web.facts.url}/#/project/${web.demo}/cohorts/new`)
    await page.getByLabel('Static').check()
    await page.getByLabel('Or a CSV file').waitFor()
    await drop(['buyers.csv'])
    await page.getByLabel('Column of the file').waitFor()
    await page.locator('.file-field').getByText('buyers.csv').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('buyers')
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Remove buyers.csv' }).click()
    await page.getByLabel('Column of the file').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Distinct ids').isEnabled()).toBe(true)
    await page.close()
  })

  test('columns show their values, formats are guessed, rows are counted and shown, and the import is undone', async () => {
    const path = join(folder, 'kasse.csv')
    const line = (n: number) =>
      `gekauft;kunde-${n};${String(1 + (n % 28)).padStart(2, '0')}.02.2026 0${n % 10}:30;"1.${100 + n},50";${n % 2 ? 'bar' : 'karte'}`
    const csv = [
      'event;kunde;datum;betrag;zahlart',
      ...Array.from({ length: 40 }, (_, n) => line(n)),
      'gekauft;kunde-x;31.02.2026 10:00;"5,00";bar',
    ]
    await writeFile(path, csv.join('\n'))
    const page = await web.signedIn()
    await page.goto(`${web.facts.url}/#/project/${web.demo}/import`)
    await page.getByLabel('File', { exact: true }).setInputFiles(path)
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByLabel('Distinct id').selectOption('kunde')
    await preview.getByLabel('Time', { exact: true }).selectOption('datum')
    await preview.getByText('kunde-0 · kunde-1 · kunde-2').waitFor()
    const others = preview.getByRole('list', { name: 'Columns that become properties' })
    expect(await others.textContent()).toMatch(/betrag1\.100,50 · 1\.101,50 · 1\.102,50/)
    expect(await preview.getByLabel('Times are written as').inputValue()).toBe('DD.MM.YYYY')
    expect(await preview.getByLabel('Numbers are written as').inputValue()).toBe('1.234,56')
    await preview.getByText('1 of the 41 rows of the file cannot be read, and will be left out.').waitFor()
    await preview.getByText('Row 41: unreadable timestamp: 31.02.2026 10:00').waitFor()
    await preview.getByRole('combobox', { name: 'Time zone of times' }).fill('Europe/Berlin')
    await page.keyboard.press('Enter')
    await expect
      .poll(() =>
        preview
          .getByRole('row', { name: /kunde-0/ })
          .locator('td.when')
          .getAttribute('title'),
      )
      .toBe('2026-01-31T23:30:00.000Z')
    expect(await accessibilityFindings(page)).toEqual([])

    // Another format, and none of the rows can be read.
    await preview.getByLabel('Times are written as').selectOption('MM/DD/YYYY')
    await preview.getByText('None of the 41 rows of the file can be read.').waitFor()
    expect(await preview.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true)
    await preview.getByLabel('Times are written as').selectOption('DD.MM.YYYY')
    await preview.getByText('1 of the 41 rows').waitFor()
    await preview.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Imported kasse.csv').waitFor()
    expect(await rows("select count(), sum(properties.betrag) from events where event = 'gekauft'")).toEqual([[40, 40 * 1100.5 + 780]])

    const before = Number((await rows('select count() from events'))[0]![0])
    const record = page.getByRole('region', { name: 'Imports' }).getByRole('row', { name: /kasse\.csv/ })
    expect(await record.textContent()).toMatch(/400done/)
    await record.getByRole('button', { name: 'Undo' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('40 events that it has stored will be removed').waitFor()
    await dialog.getByRole('button', { name: 'Remove its events' }).click()
    await record.getByText('40 events and 40 people removed').waitFor()
    expect(await record.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    // What was received is not said to be there.
    await page.getByText(/ past events were received so far, in files or from clients; 40 of them were removed again/).waitFor()
    expect(Number((await rows('select count() from events'))[0]![0])).toBe(before - 40)

    // And once more, with another choice.
    await page.getByLabel('File', { exact: true }).setInputFiles(path)
    await preview.getByLabel('Distinct id').selectOption('kunde')
    await preview.getByLabel('Time', { exact: true }).selectOption('datum')
    // What is chosen before the format of times is guessed is taken without that guess.
    await expect.poll(() => preview.getByLabel('Times are written as').inputValue()).toBe('DD.MM.YYYY')
    await preview.getByLabel('Numbers are written as').selectOption('do not convert')
    await preview.getByText('1 of the 41 rows').waitFor()
    await preview.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Imported kasse.csv').waitFor()
    expect(await rows("select count() from events where event = 'gekauft' and properties.betrag = '1.100,50'")).toEqual([[1]])
    await page.close()
  })
})
