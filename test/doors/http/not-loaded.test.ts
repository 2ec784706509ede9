import { expect, test } from 'vitest'
import type { LogLine } from '../../../src/doors/http/app.ts'
import { createHandler } from '../../../src/doors/http/server/create-handler.ts'
import type { LocalWaymark } from '../../../src/engine.ts'

// The routes are loaded when a handler is made. A handler that cannot have them answers so: the application that it is a part of goes on.

test('routes that cannot be made are an answer and a line of the log, not an end of the process', async () => {
  const unusable = new Proxy(
    {},
    {
      get(_, name) {
        throw new Error(`no ${String(name)}`)
      },
    },
  )
  const waymark = { accounts: unusable, saved: { answers: { limitRows: () => undefined } }, asking: {} } as unknown as LocalWaymark
  const lines: LogLine[] = []
  const rejected: unknown[] = []
  const onRejected = (error: unknown) => rejected.push(error)
  process.on('unhandledRejection', onRejected)
  try {
    const handler = createHandler(waymark, { takesCommands: false, allowsDownloads: () => true, log: (line) => lines.push(line) })
    await expect.poll(() => lines.length + rejected.length).toBeGreaterThan(0)
    await new Promise((resume) => setImmediate(resume))
    expect(rejected).toEqual([])
    expect(lines).toMatchObject([{ level: 'error', message: 'the HTTP API could not be loaded', error: expect.stringContaining('no ') }])
    const answer = await handler(new Request('http://127.0.0.1/api/users/@me/'))
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ type: 'server_error', code: expect.any(String), detail: expect.any(String) })
  } finally {
    process.off('unhandledRejection', onRejected)
  }
})
