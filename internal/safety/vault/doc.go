// Package vault seals secrets and keeps the key that they are sealed with.
//
// A value is sealed with AES-256-GCM under a key of its own, derived from the
// master key by HKDF-SHA-256 from the secret's name and version. Name and version
// are additional data too, so that a sealed value cannot be moved to another
// secret, nor an old version be put in the place of a newer one.
//
// The master key is 32 random bytes. It comes from the environment variable
// SECRETS_MASTER_KEY, from a file of mode 0600 in the home, or from the system's
// keyring, whichever has it; a new one goes to the file, or to the keyring where
// that is asked for.
package vault
