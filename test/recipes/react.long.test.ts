import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/doors/library/client.ts'
import { openBrowser } from '../clients/browser.ts'
import { hasBrowser } from '../web/browser.ts'
import { type Recipe, startRecipe } from './recipe.ts'

// The components of packages/react, with React itself in a real browser, beside the application of docs/viewers.md; and their types.

const here = import.meta.dirname
const folder = join(here, '../../packages/react')
const isInstalled = existsSync(join(here, 'node_modules/react'))
if (!isInstalled) console.warn('\n  SKIPPED: the components for React. `npm run setup:recipes` installs it.\n')

const program = `
import { createElement as h, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { WaymarkChart, WaymarkDashboard } from '@waymark/react'

window.asked = 0
const tokenProvider = async () => {
  window.asked++
  return (await (await fetch('/token')).json()).token
}
function Reports() {
  const [count, setCount] = useState(0)
  const [error, setError] = useState(null)
  return h('main', {},
    h('button', { onClick: () => setCount(count + 1) }, 'Render again ' + count),
    h(WaymarkDashboard, { server: location.origin + '/analytics', dashboard: DASHBOARD, tokenProvider, className: 'board', onLoad: (answer) => { window.loaded = answer.dashboard.name } }),
    h(WaymarkChart, { server: location.origin + '/analytics', insight: 999, tokenProvider, onError: ({ status }) => setError(status) }),
    error && h('p', {}, 'Refused: ' + error))
}
createRoot(document.getElementById('root')).render(h(Reports))
`

describe.skipIf(!isInstalled)('charts in React', () => {
  describe.skipIf(!hasBrowser)('in a browser', () => {
    let app: Recipe
    let browser: Browser
    let dashboard = 0
    beforeAll(async () => {
      const page = await readFile(join(here, '../../docs/viewers.md'), 'utf8')
      ;[app, browser] = await Promise.all([startRecipe(page, 'viewers'), openBrowser()])
      const project = await app.waymark.project('Shop')
      const { results } = await createClient(app.waymark).dashboards.list(project)
      dashboard = results.find(({ name }) => name === 'Your shop')!.id
      await project.ingest({ batch: [{ event: 'order', distinct_id: 'a', properties: { customer: 'acme' } }] })
    })
    afterAll(async () => {
      await browser?.close()
      await app?.close()
    })

    test('they show what the elements show, and a new rendering asks nothing again', async () => {
      const { outputFiles } = await build({
        stdin: { contents: program.replace('DASHBOARD', String(dashboard)), resolveDir: here, loader: 'js' },
        bundle: true,
        write: false,
        format: 'iife',
        define: { 'process.env.NODE_ENV': '"production"' },
        nodePaths: [join(here, 'node_modules')],
        alias: { '@waymark/react': join(folder, 'index.js') },
      })
      const context = await browser.newContext({ extraHTTPHeaders: { 'x-customer': 'acme' } })
      const page = await context.newPage()
      await page.route('**/react', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: '<!doctype html><title>React</title><div id="root"></div><script src="/react.js"></script>',
        }),
      )
      await page.route('**/react.js', (route) => route.fulfill({ contentType: 'text/javascript', body: outputFiles[0]!.text }))
      await page.goto(`${app.url}/react`)
      await page.getByRole('heading', { name: 'Orders' }).waitFor()
      await page.getByText('Refused: 404').waitFor()
      expect(await page.locator('waymark-dashboard').getAttribute('class')).toBe('board')
      const facts = () => page.evaluate('[window.asked, window.loaded]')
      expect(await facts()).toEqual([2, 'Your shop'])
      await page.getByRole('button').click()
      await page.getByText('Render again 1').waitFor()
      expect(await facts()).toEqual([2, 'Your shop'])
      await context.close()
    })
  })

  test('the example of the page has the types that the package says', async () => {
    const readme = await readFile(join(folder, 'README.md'), 'utf8')
    const [, example] = /```jsx\n([\s\S]*?)```/.exec(readme)!
    const file = join(here, 'example.tsx')
    const wrong = `${example}\nexport const Wrong = () => <WaymarkDashboard dashboard="3" />\n`
    const problemsOf = (text: string): string[] => {
      const options: ts.CompilerOptions = {
        jsx: ts.JsxEmit.ReactJSX,
        module: ts.ModuleKind.ESNext,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
        target: ts.ScriptTarget.ES2022,
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: [],
        paths: {
          '@waymark/react': [join(folder, 'index.d.ts')],
          react: [join(here, 'node_modules/@types/react')],
          'react/*': [join(here, 'node_modules/@types/react/*')],
        },
      }
      const host = ts.createCompilerHost(options)
      const { readFile: read, fileExists } = host
      host.readFile = (name) => (name === file ? text : read(name))
      host.fileExists = (name) => name === file || fileExists(name)
      host.getSourceFile = (name, version) => {
        const found = host.readFile(name)
        return found === undefined ? undefined : ts.createSourceFile(name, found, version)
      }
      return ts
        .getPreEmitDiagnostics(ts.createProgram([file], options, host))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    }
    expect(problemsOf(example!)).toEqual([])
    expect(problemsOf(wrong)).toEqual([expect.stringContaining("Type 'string' is not assignable to type 'number'")])
  })
})
