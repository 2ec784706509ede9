import { DestinationError } from '../destinations/destination.ts'

/** A package that is installed only where it is used. `what`: what needs it, in plural. */
export async function optionalPackage<T>(name: string, what: string): Promise<T> {
  try {
    return (await import(name)) as T
  } catch (cause) {
    const message = `${what} need the package ${name} on the server. Install it beside Waymark: npm install ${name}`
    throw new DestinationError(message, { isRetryable: false, cause })
  }
}
