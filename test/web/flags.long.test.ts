import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityFindings, hasBrowser, openWeb, settled, type Web } from './browser.ts'

describe.skipIf(!hasBrowser)('feature flags in a browser', () => {
  let web: Web
  beforeAll(async () => {
    web = await openWeb()
  })
  afterAll(() => web.close())

  interface Flag {
    readonly id: number
    readonly key: string
    readonly active: boolean
    readonly filters: {
      readonly groups: readonly {
        readonly properties: readonly object[]
        readonly rollout_percentage: number
        readonly variant: string | null
      }[]
      readonly multivariate: { readonly variants: readonly object[] } | null
      readonly payloads: object
    }
  }
  const at = (path: string, project = web.facts.project_id) => `${web.facts.url}/#/project/${project}/${path}`
  const base = (project = web.facts.project_id) => `/api/projects/${project}/feature_flags/`
  const flagOf = async (key: string, project?: number): Promise<Flag> =>
    (await web.api<{ results: Flag[] }>('GET', base(project))).results.find((one) => one.key === key)!

  test('one is made, tried, changed, deleted and brought back', async () => {
    const page = await web.signedIn()
    await page.goto(at('flags'))
    await page.getByText('No flag yet').waitFor()
    await page.getByRole('link', { name: 'New flag' }).click()
    await page.getByLabel('Key', { exact: true }).fill('new checkout')
    await page.getByLabel('Description').fill('Checkout on one page')
    await page.getByRole('button', { name: 'Create the flag' }).click()
    await page.getByText('Only letters, numbers, hyphens').waitFor()
    await page.getByLabel('Key', { exact: true }).fill('new-checkout')
    await page.getByLabel('Payload, as JSON').fill('{"limit": 5}')
    expect(await accessibilityFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Create the flag' }).click()
    await page.getByRole('heading', { name: 'new-checkout' }).waitFor()
    expect((await flagOf('new-checkout')).filters).toMatchObject({
      groups: [{ rollout_percentage: 100 }],
      payloads: { true: '{"limit": 5}' },
    })

    await page.getByLabel('Distinct id of a person').fill('somebody')
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('somebody gets it: meets condition 1.').waitFor()

    await page.getByLabel('Share of condition 1').fill('0')
    await page.getByLabel('Share of condition 1').blur()
    await page.getByRole('button', { name: '+ Variants instead of on and off' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. Clients get it when they ask next.').waitFor()
    expect((await flagOf('new-checkout')).filters).toMatchObject({
      groups: [{ rollout_percentage: 0 }],
      multivariate: {
        variants: [
          { key: 'control', rollout_percentage: 50 },
          { key: 'test', rollout_percentage: 50 },
        ],
      },
    })
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('somebody does not get it: matches, and is outside of the share of condition 1.').waitFor()
    await settled(page)
    expect(await accessibilityFindings(page)).toEqual([])

    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No flag yet').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: 'new-checkout' }).waitFor()
    await page.context().close()
  })

  test('a condition asks for a property', async () => {
    const page = await web.signedIn()
    await page.goto(at('flags/new', web.demo))
    await page.getByLabel('Key', { exact: true }).fill('for-some')
    await page.getByRole('button', { name: '+ Add a property or a cohort' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Create the flag' }).click()
    await page.getByText('Condition 1 has a property without a value.').waitFor()
    await page.getByRole('combobox', { name: 'Property' }).fill('email')
    await page.getByRole('option', { name: /email/i }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByLabel('Comparison').selectOption({ label: 'is set' })
    await page.getByRole('button', { name: 'Create the flag' }).click()
    await page.getByRole('heading', { name: 'for-some' }).waitFor()
    expect((await flagOf('for-some', web.demo)).filters.groups).toMatchObject([
      { properties: [{ type: 'person', key: 'email', operator: 'is_set' }] },
    ])
    await page.context().close()
  })

  test('what the fields cannot say is edited as JSON', async () => {
    const { id } = await web.api<Flag>('POST', base(), {
      key: 'of-groups',
      filters: { aggregation_group_type_index: 0, groups: [{ rollout_percentage: 10 }] },
    })
    const page = await web.signedIn()
    await page.goto(at(`flags/${id}`))
    const json = page.getByLabel('Conditions, variants and payloads')
    await json.fill('{"groups": [')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('This is not valid JSON').waitFor()
    await json.fill('{"aggregation_group_type_index": 0, "groups": [{"rollout_percentage": 20}]}')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. Clients get it').waitFor()
    expect((await flagOf('of-groups')).filters.groups).toMatchObject([{ rollout_percentage: 20 }])
    await page.context().close()
  })
})
