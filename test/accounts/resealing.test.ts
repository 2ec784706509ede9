import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { resealSecrets, sealedFor } from '../../src/accounts/resealing.ts'
import { createSecretBox, newSecretKey, type SecretBox } from '../../src/accounts/secret-box.ts'
import { open, type Waymark } from '../../src/engine.ts'

// A key is replaced: every secret at rest gets the new one, and the old one is no longer needed.

const folder = mkdtempSync(join(tmpdir(), 'waymark-resealing-'))
let waymark: Waymark | null = null
afterEach(async () => {
  await waymark?.close()
  waymark = null
  rmSync(folder, { recursive: true, force: true })
})

/** One record of each kind. */
async function insertSecrets(into: Waymark, box: SecretBox, n: number): Promise<void> {
  const { context, firstStart } = into.accounts
  const { organization, project } = await firstStart({ makesKey: false })
  const now = new Date()
  const shared = { organization_id: organization.id, project_id: project.id, created_at: now }
  await context.store.write(async (tables) => {
    await tables.batch_exports.insert({
      ...shared,
      id: `export ${n}`,
      name: '',
      model: 'events',
      destination_type: 'HTTP',
      config: {},
      secrets: box.seal('export', sealedFor.batchExport(`export ${n}`)),
      interval: 'hour',
      paused: true,
      paused_reason: null,
      schema: null,
      filters: null,
      start_at: null,
      end_at: null,
      last_updated_at: now,
      last_paused_at: null,
      cut_at: now,
      cut_position: { position: 0, isFinal: true },
      failed_runs: 0,
      is_deleted: false,
    })
    await tables.plugins.insert({
      id: n,
      organization_id: organization.id,
      plugin_type: 'custom',
      name: null,
      description: null,
      url: `https://github.com/acme/p${n}`,
      url_secrets: box.seal('url', sealedFor.pluginUrl(n)),
      icon: null,
      config_schema: {},
      tag: null,
      latest_tag: null,
      is_global: false,
      capabilities: {},
      metrics: {},
      public_jobs: {},
      created_at: now,
      updated_at: now,
    })
    await tables.plugin_configs.insert({
      ...shared,
      id: n,
      plugin_id: n,
      enabled: false,
      position: 0,
      config: {},
      secrets: { a: box.seal('a', sealedFor.pluginSetting(n, 'a')), b: box.seal('b', sealedFor.pluginSetting(n, 'b')) },
      name: null,
      description: null,
      is_deleted: false,
      error: null,
      updated_at: now,
    })
    await tables.plugin_attachments.insert({
      id: `file ${n}`,
      project_id: project.id,
      plugin_config_id: n,
      key: 'f',
      content_type: 'text/plain',
      file_name: 'f.txt',
      file_size: 1,
      contents: box.seal('file', sealedFor.pluginAttachment(n, 'f')),
    })
  })
}

async function secretsIn({ accounts: { context } }: Waymark, box: SecretBox, n: number): Promise<string[]> {
  const { read } = context.store
  const { a, b } = (await read.plugin_configs.first({ id: n }))!.secrets as { a: string; b: string }
  return [
    box.open((await read.batch_exports.first({ id: `export ${n}` }))!.secrets!, sealedFor.batchExport(`export ${n}`)),
    box.open((await read.plugins.first({ id: n }))!.url_secrets!, sealedFor.pluginUrl(n)),
    box.open(a, sealedFor.pluginSetting(n, 'a')),
    box.open(b, sealedFor.pluginSetting(n, 'b')),
    box.open((await read.plugin_attachments.first({ id: `file ${n}` }))!.contents, sealedFor.pluginAttachment(n, 'f')),
  ]
}
const plain = ['export', 'url', 'a', 'b', 'file']

test('a server that starts with a new key seals all secrets with it', async () => {
  const [old, now] = [newSecretKey(), newSecretKey()]
  const dataDir = join(folder, 'data')
  waymark = await open({ dataDir, exports: { runs: false, secretKeys: [old] } })
  await insertSecrets(waymark, createSecretBox([old]), 1)
  await waymark.close()
  const reports: unknown[] = []
  waymark = await open({ dataDir, exports: { runs: false, secretKeys: [now, old] }, onError: (error) => reports.push(error) })
  const current = createSecretBox([now])
  while (!current.isCurrent((await waymark.accounts.context.store.read.plugin_attachments.first({ id: 'file 1' }))!.contents))
    await new Promise(setImmediate)
  expect(await secretsIn(waymark, current, 1)).toEqual(plain)
  expect(reports).toEqual([])
})

test('a secret that no key opens is reported, and does not keep the others from the new key', async () => {
  const [lost, old, now] = [newSecretKey(), newSecretKey(), newSecretKey()]
  waymark = await open({ dataDir: ':memory:', exports: { runs: false } })
  await insertSecrets(waymark, createSecretBox([lost]), 1)
  await insertSecrets(waymark, createSecretBox([old]), 2)
  const reports: unknown[] = []
  const parts = {
    context: waymark.accounts.context,
    box: createSecretBox([now, old]),
    report: (error: unknown) => void reports.push(error),
  }
  expect(await resealSecrets(parts)).toBe(5)
  expect(await secretsIn(waymark, createSecretBox([now]), 2)).toEqual(plain)
  expect(reports.map((error) => (error as { code: string }).code)).toEqual(Array(4).fill('unknown-secret-key'))
  expect(await secretsIn(waymark, createSecretBox([lost]), 1)).toEqual(plain)
  expect(await resealSecrets(parts)).toBe(0)
})
