// A request that another process has taken, and may send again when the owner of the directory ends before it answers.

const attempts = new WeakMap<Request, string>()

/** Marks a request: its events get the same uuids each time it is sent. */
export const setAttempt = (request: Request, id: string): void => void attempts.set(request, id)
export const attemptOf = (request: Request): string | null => attempts.get(request) ?? null
