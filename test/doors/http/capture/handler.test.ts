import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type CaptureServices, type CaptureTarget, handleCapture, type Refused } from '../../../../src/doors/http/capture/handler.ts'
import { createScripts } from '../../../../src/doors/http/capture/scripts.ts'
import { RequestBodies } from '../../../../src/doors/http/requests/request-bodies.ts'
import { WaymarkError } from '../../../../src/errors/errors.ts'
import { forms } from './forms.ts'

interface Ingested {
  readonly batch: readonly Record<string, unknown>[]
  readonly sentAt: string | null
  readonly isHistorical: boolean
  readonly ip: string | null
}

class Service implements CaptureServices {
  readonly taken: Ingested[] = []
  readonly refused: Refused[] = []
  key = 'phc_known'
  failure: Error | null = null
  limit: { detail: string; retryAfterSeconds: number } | null = null
  clock = () => new Date('2026-01-02T03:04:05Z')
  intake = new RequestBodies()
  scripts = createScripts()
  knows = async (token: string) => token === this.key
  callerOf = (_: Request, address: string | null) => address
  projectOf = async (token: string): Promise<CaptureTarget | null> => {
    if (token !== this.key) return null
    return {
      ingestEvents: async (events, { sentAt, isHistorical, ip, onRefused }) => {
        const read = [...events] as Record<string, unknown>[]
        if (this.failure) throw this.failure
        const refused = read.filter(({ event }) => event === 'bad')
        for (const event of refused) onRefused?.(event, new WaymarkError('bad-event', { message: 'no good', index: 0, attr: null }))
        const batch = read.filter((event) => !refused.includes(event))
        this.taken.push({ batch, sentAt: (sentAt as string) ?? null, isHistorical: isHistorical === true, ip: ip ?? null })
        const warnings = batch.flatMap(({ event }) =>
          event === 'odd' ? [{ type: 'ignored_invalid_timestamp' as const, details: {} }] : [],
        )
        return { accepted: batch.length - 1, duplicates: 1, dropped: 0, warnings }
      },
    }
  }
  importLimit = async () => this.limit
  onRefused = (refused: Refused) => void this.refused.push(refused)
}

const call = async (service: Service, path: string, init: RequestInit = {}) => {
  const response = await handleCapture(new Request(`http://localhost${path}`, init), service, '10.1.1.1')
  if (!response) throw new Error(`${path} is nobody's`)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : text,
  }
}
const event = { event: 'paid', distinct_id: 'u', properties: {} }
const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
})
const paths = ['/batch/', '/batch', '/capture/', '/e/', '/e', '/i/v0/e/', '/i/v0/e', '/track/', '/track', '/engage/']

describe('every path takes an event', () => {
  test.each(paths)('%s', async (path) => {
    const service = new Service()
    const answer = await call(service, path, post({ ...event, api_key: 'phc_known' }))
    expect([answer.status, answer.body]).toEqual([200, { status: 1 }])
    expect(service.taken).toEqual([{ batch: [event], sentAt: null, isHistorical: false, ip: '10.1.1.1' }])
  })

  const cells = [...new Set(paths.map((path) => path.replace(/\/$/, '')))].flatMap((path) =>
    Object.entries(forms).map(([name, form]) => [path, name, form] as const),
  )
  test.each(cells)('%s with %s', async (path, _, { method = 'POST', query, headers, body }) => {
    const service = new Service()
    service.key = 'phc_x'
    expect((await call(service, `${path}/?${new URLSearchParams(query)}`, { method, headers, body })).status).toBe(200)
    expect(service.taken.map(({ batch }) => batch)).toEqual([[{ event: 'paid', distinct_id: 'ü+1', properties: { sum: 3 } }]])
  })

  test.each(paths)('%s by GET', async (path) => {
    const service = new Service()
    const data = encodeURIComponent(JSON.stringify({ ...event, token: 'phc_known' }))
    expect((await call(service, `${path}?data=${data}`)).status).toBe(200)
    expect(service.taken).toHaveLength(1)
  })
})

test('a beacon gets no body', async () => {
  const answer = await call(new Service(), '/e/?beacon=1', post({ ...event, token: 'phc_known' }))
  expect([answer.status, answer.body]).toEqual([204, ''])
})

describe('a key of no project', () => {
  const unknown = {
    type: 'authentication_error',
    code: 'invalid_api_key',
    detail: expect.stringContaining('No project has this API key'),
    attr: null,
  }
  const uuid = '0190a000-0000-7000-8000-000000000001'
  const sent = post({ token: 'phc_other', batch: [{ ...event, uuid }] }, { authorization: 'Bearer phc_other' })

  test.each([...paths, '/e/?beacon=1', '/i/v1/analytics/events'])('%s answers 401', async (path) => {
    const service = new Service()
    const answer = await call(service, path, sent)
    expect([answer.status, answer.body]).toEqual([401, unknown])
    expect(service.taken).toEqual([])
    expect(service.refused).toEqual([{ reason: 'unknown-project', path: path.replace(/\/?(\?.*)?$/, ''), token: 'phc_other' }])
  })

  test('by GET, and when flags are asked for', async () => {
    const data = encodeURIComponent(JSON.stringify({ ...event, token: 'phc_other' }))
    expect((await call(new Service(), `/e/?data=${data}`)).status).toBe(401)
    expect((await call(new Service(), '/flags/?v=2', post({ token: 'phc_other', distinct_id: 'u' }))).body).toEqual(unknown)
  })

  test('other refusals are reported with their reason', async () => {
    const service = new Service()
    await call(service, '/e/', post({ ...event, token: 'phx_1' }))
    await call(service, '/e/', post({ event: 'x', token: 'phc_known' }))
    expect(service.refused.map(({ reason }) => reason)).toEqual(['token-personal', 'invalid-payload'])
  })
})

test('sent_at, the historical flag and the address go along', async () => {
  const service = new Service()
  const body = { api_key: 'phc_known', batch: [event], sent_at: '2026-01-01T00:00:00Z', historical_migration: true }
  await call(service, '/batch/', post(body, { 'x-forwarded-for': '9.9.9.9:1' }))
  expect(service.taken).toEqual([{ batch: [event], sentAt: '2026-01-01T00:00:00Z', isHistorical: true, ip: '9.9.9.9' }])
})

describe('when it cannot take them', () => {
  const batch = { api_key: 'phc_known', batch: [event] }
  test('a full queue asks the client to come back', async () => {
    const service = new Service()
    service.failure = new WaymarkError('queue-full', { bytes: 10, limit: 5 })
    const answer = await call(service, '/batch/', post(batch))
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(answer.body).toMatchObject({ type: 'server_error', code: 'server_error', attr: null })
  })

  test('a large body is refused with the limit', async () => {
    const answer = await call(new Service(), '/e/', post({ ...event, token: 'phc_known', properties: { x: 'y'.repeat(3e6) } }))
    expect([answer.status, answer.body]).toEqual([
      413,
      expect.objectContaining({ type: 'client_error', code: 'request_too_large', detail: expect.stringContaining('2097152 bytes') }),
    ])
  })

  test('what is packed may be larger than its path takes unpacked, to a limit', async () => {
    const send = async (size: number) => {
      const body = new Uint8Array(gzipSync(JSON.stringify({ ...event, token: 'phc_known', properties: { x: 'y'.repeat(size) } })))
      return (await call(new Service(), '/e/', { method: 'POST', body })).status
    }
    expect([await send(3e6), await send(21e6)]).toEqual([200, 413])
  })

  test('an import beyond what was approved waits', async () => {
    const service = new Service()
    service.limit = { detail: 'too fast', retryAfterSeconds: 30 }
    const answer = await call(service, '/batch/', post({ ...batch, historical_migration: true }))
    expect([answer.status, answer.headers.get('retry-after'), service.taken.length]).toEqual([429, '30', 0])
    expect((await call(service, '/batch/', post(batch))).status).toBe(200)
  })

  test('an event that ingestion refuses is the client’s mistake', async () => {
    const service = new Service()
    service.failure = new WaymarkError('bad-event', { message: 'no good', index: 0, attr: null })
    expect((await call(service, '/batch/', post(batch))).body).toEqual({
      type: 'validation_error',
      code: 'invalid_payload',
      detail: 'no good',
      attr: null,
    })
  })

  test('other methods are refused', async () => {
    const refused = await call(new Service(), '/e/', { method: 'DELETE' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS'])
  })
})

describe('CORS', () => {
  test('a preflight echoes the origin and the headers asked for', async () => {
    const { status, headers } = await call(new Service(), '/e/', {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-headers': 'traceparent,x-a' },
    })
    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(headers.get('access-control-allow-headers')).toBe('traceparent,x-a')
    expect(headers.get('access-control-allow-credentials')).toBe('true')
  })

  test('errors carry it too, so that a page can read them', async () => {
    const { headers } = await call(new Service(), '/e/', post({}, { origin: 'https://shop.example' }))
    expect(headers.get('access-control-allow-origin')).toBe('https://shop.example')
  })
})

describe('the per-event protocol', () => {
  const uuid = '0190a000-0000-7000-8000-000000000001'
  const other = '0190a000-0000-7000-8000-000000000002'
  const bearer = { authorization: 'Bearer phc_known', 'posthog-request-timestamp': '2026-01-02T03:04:00Z' }
  const send = (service: Service, batch: readonly object[], headers: Record<string, string> = bearer) =>
    call(service, '/i/v1/analytics/events', post({ created_at: '2026-01-02T03:03:00Z', batch }, headers))

  test('answers for each event and lifts its options into properties', async () => {
    const service = new Service()
    const full = { ...event, uuid, session_id: 's', options: { process_person_profile: false } }
    const answer = await send(service, [full, { ...event, uuid: other, distinct_id: '' }])
    expect(answer.body).toEqual({ results: { [uuid]: { result: 'ok' }, [other]: { result: 'drop', details: 'missing_distinct_id' } } })
    expect(service.taken[0]).toMatchObject({
      batch: [{ event: 'paid', distinct_id: 'u', uuid, properties: { $session_id: 's', $process_person_profile: false } }],
      sentAt: '2026-01-02T03:04:00Z',
    })
  })

  test('asks for another try where one may help', async () => {
    const service = new Service()
    service.failure = new WaymarkError('disk-full', { free: 1, floor: 2 })
    expect((await send(service, [{ ...event, uuid }])).body).toEqual({ results: { [uuid]: { result: 'retry', details: 'disk-full' } } })
  })

  test('one event that ingestion refuses does not keep its neighbours out, and the counts are told to who asks', async () => {
    const service = new Service()
    const third = '0190a000-0000-7000-8000-000000000003'
    const batch = [
      { ...event, uuid },
      { ...event, event: 'bad', uuid: other },
      { ...event, event: 'odd', uuid: third },
    ]
    const answer = await call(service, '/i/v1/analytics/events?summary=1', post({ batch }, bearer))
    expect(answer.body).toEqual({
      results: { [uuid]: { result: 'ok' }, [other]: { result: 'drop', details: 'no good' }, [third]: { result: 'ok' } },
      summary: { accepted: 1, duplicates: 1, dropped: 1, warnings: [{ kind: 'ignored_invalid_timestamp', count: 1 }] },
    })
    expect(service.taken[0]?.batch.map((one) => one.uuid)).toEqual([uuid, third])
  })

  test('an import beyond what was approved is limited, event by event, and told when to come back', async () => {
    const service = new Service()
    service.limit = { detail: 'too fast', retryAfterSeconds: 30 }
    const answer = await call(service, '/i/v1/analytics/events', post({ historical_migration: true, batch: [{ ...event, uuid }] }, bearer))
    expect([answer.headers.get('retry-after'), answer.body]).toEqual([
      '30',
      { results: { [uuid]: { result: 'limited', details: 'too fast' } } },
    ])
  })

  test.each<[string, readonly object[], Record<string, string>, number]>([
    ['without a key', [{ ...event, uuid }], {}, 401],
    ['with a personal key', [{ ...event, uuid }], { authorization: 'Bearer phx_1' }, 401],
    ['with an unknown key', [{ ...event, uuid }], { authorization: 'Bearer phc_unknown' }, 401],
    ['with an event without a uuid', [event], bearer, 400],
    ['with nothing', [], bearer, 400],
  ])('%s it is refused', async (_, batch, headers, status) => {
    expect((await send(new Service(), batch, headers)).status).toBe(status)
  })
})

describe('what clients ask for besides', () => {
  test.each<[string, object]>([
    ['/flags/?v=2', { flags: {}, errorsWhileComputingFlags: false }],
    ['/flags/?v=2&config=true', { flags: {}, hasFeatureFlags: false }],
    ['/decide/', { featureFlags: [] }],
    ['/decide/?v=2', { featureFlags: {} }],
    ['/decide/?v=3', { featureFlags: {}, featureFlagPayloads: {}, errorsWhileComputingFlags: false }],
    ['/decide/?v=4', { flags: {} }],
    ['/array/phc_x/config', { token: 'phc_x', hasFeatureFlags: false, supportedCompression: ['gzip', 'gzip-js'] }],
    ['/api/surveys/?token=x', { surveys: [] }],
    ['/api/early_access_features/?token=x', { earlyAccessFeatures: [] }],
    ['/api/web_experiments/?token=x', { experiments: [] }],
    ['/s/', { status: 1 }],
  ])('%s', async (path, expected) => {
    const answer = await call(new Service(), path, { method: path.startsWith('/flags/?') ? 'POST' : 'GET' })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject(expected)
  })

  test.each<[string, RequestInit, number, string | undefined]>([
    ['a whole question', post({ token: 'phc_known', distinct_id: 'u' }), 200, undefined],
    ['a form', { method: 'POST', body: new URLSearchParams({ data: btoa('{"api_key":"phc_known","distinct_id":"u"}') }) }, 200, undefined],
    ['an unknown key', post({ token: 'phc_other', distinct_id: 'u' }), 401, 'invalid_api_key'],
    ['no key', post({ distinct_id: 'u' }), 401, 'invalid_api_key'],
    ['nothing', { method: 'POST' }, 401, 'invalid_api_key'],
    ['nobody', post({ token: 'phc_known' }), 400, 'missing_distinct_id'],
    ['an empty id', post({ token: 'phc_known', distinct_id: '' }), 400, 'missing_distinct_id'],
    ['a list', post([]), 400, 'malformed_data'],
    ['no JSON', { method: 'POST', body: '{"token":' }, 400, 'malformed_data'],
  ])('the old question for flags with %s', async (_, init, status, code) => {
    const answer = await call(new Service(), '/decide/?v=3', init)
    expect([answer.status, (answer.body as Record<string, unknown>).code]).toEqual([status, code])
  })

  test('the configuration beside flags names the key of the body', async () => {
    const answer = await call(new Service(), '/flags/?v=2&config=true', post({ api_key: 'phc_known', distinct_id: 'u' }))
    expect(answer.body).toMatchObject({ token: 'phc_known', flags: {} })
    expect((await call(new Service(), '/flags/?v=2', { method: 'POST', body: 'no JSON' })).status).toBe(200)
  })

  test('the configuration script is a script', async () => {
    const answer = await call(new Service(), '/array/phc_x/config.js')
    expect(answer.headers.get('content-type')).toBe('application/javascript')
    const window: { _POSTHOG_REMOTE_CONFIG?: Record<string, { config: { hasFeatureFlags: boolean } }> } = {}
    new Function('window', answer.body as string)(window)
    expect(window._POSTHOG_REMOTE_CONFIG?.phc_x?.config.hasFeatureFlags).toBe(false)
  })

  test('the script of surveys, which the browser library always loads, has none', async () => {
    for (const path of ['/static/surveys.js?v=1', '/static/1.434.18/surveys.js']) {
      const answer = await call(new Service(), path)
      const window: { __PosthogExtensions__?: { generateSurveys(): unknown } } = {}
      new Function('window', answer.body as string)(window)
      expect([answer.status, window.__PosthogExtensions__?.generateSurveys()]).toEqual([200, undefined])
    }
  })

  test('files that the browser library does not have are not there', async () => {
    expect((await call(new Service(), '/static/another.js?v=1')).status).toBe(404)
  })

  test('a path of nobody is left to others', async () => {
    expect(await handleCapture(new Request('http://localhost/api/organizations/'), new Service())).toBeNull()
  })
})
