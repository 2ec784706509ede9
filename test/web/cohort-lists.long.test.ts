import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, type Web } from './browser.ts'

// A static cohort of a pasted list, or of a file, by a property of people.

describe.skipIf(!hasBrowser)('cohorts of lists', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(() => web.close())

  test('addresses that are pasted or in a column become people, and those of nobody are shown', async () => {
    const project = `/api/projects/${web.demo}`
    const batch = ['ann', 'ben', 'cleo'].map((name) => ({
      event: '$set',
      distinct_id: name,
      properties: { $set: { email: `${name}@list.example` } },
    }))
    const { api_token } = await web.api<{ api_token: string }>('GET', `${project}/`)
    await web.api('POST', '/batch/', { api_key: api_token, batch })
    const page = await web.signedIn()
    page.setDefaultTimeout(20_000)
    await page.goto(`${web.facts.url}/#/project/${web.demo}/cohorts/new`)
    await page.getByLabel('Name').fill('Guests')
    await page.getByRole('radio', { name: /^Static/ }).check()
    await page.getByLabel('People are found by').selectOption('a property')
    await page
      .getByLabel('Values of email', { exact: false })
      .or(page.getByLabel('Values of Email', { exact: false }))
      .first()
      .fill('ann@list.example, BEN@list.example\nzoe@list.example')
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the cohort' }).click()
    await page.getByText('Guests has 2 people, of 3 values.').waitFor()
    await page.getByText('1 value matched nobody').waitFor()
    expect(await page.getByRole('list', { name: 'Values that matched nobody' }).textContent()).toBe('zoe@list.example')
    await page.getByRole('button', { name: 'Open the cohort' }).click()
    await page.getByRole('heading', { name: 'Guests' }).waitFor()

    await page.goto(`${web.facts.url}/#/project/${web.demo}/cohorts/new`)
    await page.getByRole('radio', { name: /^Static/ }).check()
    await page.getByLabel('People are found by').selectOption('a property')
    const csv = 'name,mail\nCleo,cleo@list.example\nAnn,ann@list.example\n'
    await page.getByLabel('Or a CSV file').setInputFiles({ name: 'buyers.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await page.getByLabel('Column of the file').fill('post')
    await page.getByRole('button', { name: 'Create the cohort' }).click()
    await page.getByText('The CSV has no column post; its columns are name, mail.').waitFor()
    await page.getByLabel('Column of the file').fill('mail')
    await page.getByRole('button', { name: 'Create the cohort' }).click()
    await page.getByRole('heading', { name: 'buyers' }).waitFor()
    const { results } = await web.api<{ results: { name: string; count: number }[] }>('GET', `${project}/cohorts/?search=buyers`)
    expect(results.map(({ name, count }) => [name, count])).toEqual([['buyers', 2]])
    await page.close()
  })
})
