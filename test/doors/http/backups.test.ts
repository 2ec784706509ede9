import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BackupStateAnswer } from '../../../src/doors/answers/backups.ts'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import { defaultSettings } from '../../../src/service/accounts/context.ts'
import { refused, withHome } from './conversation.ts'

// Who sees the backups of the server is in rights.ts.

const held = withHome()

test('a server that makes none says so, to administrators only', async () => {
  const { home } = held
  const path = `/api/organizations/${home.organization.id}/backups/`
  expect(await home.call('GET', path, { as: home.admin })).toMatchObject({ status: 200, body: { backups: null } })
  expect((await home.call('GET', path, { as: home.member })).status).toBe(403)
  expect((await home.call('GET', path, { as: home.outsider })).status).toBe(403)
})

test('on a hosted server they are the operator’s', async () => {
  const { home } = held
  const { settings } = home.world
  home.world.settings = { ...settings, isHosted: true }
  const path = `/api/organizations/${home.organization.id}/backups/`
  expect(await home.call('GET', path, { as: home.owner })).toMatchObject(refused(404, 'not_found'))
  expect((await home.call('GET', path, { as: home.member })).status).toBe(403)
  home.world.settings = settings
})

describe('a server that makes them', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'waymark-backups-page-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function asked<T>(
    to: string,
    work: (ask: () => Promise<NonNullable<BackupStateAnswer['backups']>>, waymark: LocalWaymark) => Promise<T>,
  ) {
    const waymark = await open({
      dataDir: join(folder, `data of ${to}`),
      backups: { to: join(folder, to), verifyEveryHours: 24 },
      surroundings: { settings: () => defaultSettings },
      onError: () => undefined,
    })
    try {
      const { personalKey, organization } = await waymark.accounts.firstStart({ email: 'ada@example.com' })
      const handler = createHandler(waymark)
      const ask = async () => {
        const url = `http://localhost/api/organizations/${organization.id}/backups/`
        const answer = await handler(new Request(url, { headers: { authorization: `Bearer ${personalKey}` } }))
        return ((await answer.json()) as BackupStateAnswer).backups!
      }
      return await work(ask, waymark)
    } finally {
      await waymark.close()
    }
  }

  test('says when the last copy was taken and verified, and what can be brought back', async () => {
    const began = Date.now()
    await asked('copies', async (ask) => {
      await expect.poll(async () => (await ask()).verified_at).not.toBeNull()
      const found = await ask()
      expect(found).toMatchObject({ to: join(folder, 'copies'), copies: 1, failures: 0, latest_error: null, verify_error: null })
      expect(Date.parse(found.copied_at!)).toBeGreaterThanOrEqual(began - 1)
      expect(found.verified_at).toBe(found.copied_at)
      expect(Date.parse(found.reaches_back_to!)).toBeGreaterThanOrEqual(Date.parse(found.copied_at!))
      expect(found.bytes! % 1024 ** 2).toBe(0)
      expect(Date.parse(found.due_at)).toBeGreaterThan(Date.parse(found.copied_at!))
    })
  })

  test('says why a copy failed', async () => {
    await writeFile(join(folder, 'a file'), '')
    await asked('a file/copies', async (ask) => {
      await expect.poll(async () => (await ask()).failures).toBeGreaterThan(0)
      expect(await ask()).toMatchObject({
        copies: null,
        copied_at: null,
        reaches_back_to: null,
        latest_error: expect.stringContaining('ENOTDIR'),
      })
    })
  })
})
