import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { chromiumPath } from '../clients/browser.ts'
import { program } from '../harness/programs.ts'
import { visitMounted } from './visit-mounted.ts'

// Waymark at /analytics of an application, in a real browser, signed in through that application.

const root = join(import.meta.dirname, '../..')
const isThere = chromiumPath !== null && existsSync(join(root, 'test/recipes/node_modules'))
if (!isThere) console.warn('\n  SKIPPED: Waymark mounted in applications. They need Chromium, and `npm run setup:recipes`.\n')

describe.skipIf(!isThere)('at /analytics', () => {
  let browser: Browser
  let child: ChildProcess | null = null
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())
  afterEach(() => child?.kill())

  const start = async (framework: string): Promise<{ url: string; token: string; project: number }> => {
    child = spawn(process.execPath, [program('mounted-app'), framework, root], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = new Promise<never>((_, reject) => child!.once('exit', (code) => reject(new Error(`the application ended with ${code}`))))
    ended.catch(() => undefined)
    return JSON.parse(
      await Promise.race([ended, new Promise<string>((resolve) => createInterface({ input: child!.stdout! }).once('line', resolve))]),
    )
  }

  test.each(['express', 'fastify', 'hono'])('%s: with and without the slash, in and out with the application', async (framework) => {
    await visitMounted(browser, await start(framework))
  })
})
