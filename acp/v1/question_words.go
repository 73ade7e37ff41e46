package v1

import (
	"strings"
	"sync"
)

// secretWords are the words by which questions for secrets are told from others,
// folded; phrases by their first word.
type secretWords struct {
	fold map[rune]rune
	// strong names are of secrets alone; weak ones, such as the tokens of a parser,
	// also mean other things, and of these the mild ones mostly do.
	strong, weak, mild [][]string
	// about follow a name in questions about secrets; ask are what a person is
	// told to do, and pointers what follows such a word behind the name.
	about, ask, pointers map[string]bool
	// owners are what makes something the person's; polite stands before a demand.
	owners, polite map[string]bool
	// openers begin questions that no secret answers; places are asked for by
	// "which" and "what", and hold secrets.
	openers, places map[string]bool
	// wishes follow a "you" whose opinion is asked; belongs leads from a name to
	// what the secret is for.
	wishes, belongs map[string]bool
}

var theSecretWords = sync.OnceValue(func() *secretWords {
	w := &secretWords{fold: letterFold()}
	w.strong, w.weak, w.mild = w.phrases(strongNames), w.phrases(weakNames), w.phrases(mildNames)
	w.about, w.ask, w.pointers = w.set(aboutNames), w.set(askWords), w.set("it them this these here below in into")
	w.owners, w.polite, w.openers, w.places = w.set(ownerWords), w.set(politeWords), w.set(openWords), w.set(placeWords)
	w.wishes, w.belongs = w.set("want prefer wish"), w.set("for of to in on from at with again please now here")
	return w
})

func (w *secretWords) set(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[foldWord(word, w.fold)] = true
	}
	return set
}

// phrases reads names that are parted by commas.
func (w *secretWords) phrases(names string) (phrases [][]string) {
	for name := range strings.SplitSeq(names, ",") {
		var phrase []string
		for word := range strings.FieldsSeq(name) {
			phrase = append(phrase, foldWord(word, w.fold))
		}
		phrases = append(phrases, phrase)
	}
	return phrases
}

const (
	strongNames = "password, pass word, passwd, passphrase, pass phrase, passcode, pass code, pwd, apikey, otp, cvv, cvc, mnemonic phrase, " +
		"api key, access key, secret key, private key, encryption key, ssh key, signing key, license key, master key, recovery key, account key, " +
		"access token, api token, auth token, bearer token, refresh token, github token, gitlab token, oauth token, session token, npm token, " +
		"github pat, gitlab pat, azure pat, client secret, webhook secret, connection string, database url, session cookie, " +
		"one time code, 2fa code, mfa code, otp code, verification code, security code, recovery code, backup code, " +
		"seed phrase, recovery phrase, secret phrase, seed word, credit card, debit card, card number, " +
		// The same in other languages.
		"passwort, passwörter, kennwort, kennwörter, zugangsdaten, mot de passe, mots de passe, code secret, contraseña, palabra clave secreta, " +
		"senha, palavra passe, parola d ordine, wachtwoord, wachtwoorden, hasło, hasła, пароль, пароля, пароли, паролей, " +
		"api schlüssel, clé api, clé d api, clave api, clave de api, chave api, chave de api, chiave api, api sleutel, klucz api, ключ api, api ключ"
	weakNames = "token, secret, credential, pin, pat, login, log in, login detail, schlüssel, clé, clave, chave, chiave, sleutel, klucz, ключ, токен"
	mildNames = "key"

	aboutNames = "hash hashes hashing hashed policy policies length expiry expiration lifetime limit budget count counter usage rotation rule " +
		"storage store stored manager management field form format validation validator reset flow handling auth authentication authorization type " +
		"column table name be bucket parser stream size ring binding map mapping page screen method button prompt strength complexity hint " +
		"read kept loaded used set checked validated encrypted configured defined located saved passed generated rotated expire expired " +
		"come live belong leak log logged logging input box dialog provider service endpoint header variable pair path order prefix press"
	askWords = "enter paste provide give send share type supply tell input write put reveal show submit insert specify fill copy post state " +
		"gib gebt geben nenne nennen eingeben tippe schreibe schick entrez entre donnez donne saisissez tapez indiquez introduce introduzca escribe escriba " +
		"ingresa ingrese dame dime digite digita informe inserisci scrivi dammi voer geef typ wpisz podaj napisz введите введи укажите напишите дай дайте"
	ownerWords = "your dein deine deinen ihr ihre votre vos ton ta tu su tus seu sua tuo tua jouw je uw twoje twój твой ваш свой"
	// "me" is for "give me your".
	politeWords = "please kindly you and or then now just first must also simply bitte por favor per favore proszę пожалуйста"
	openWords   = "where should shall does do is are must why when how who want " +
		"wo soll sollen sollte sollten où doit doivent dónde debe deben deberían onde deve devem dove devono waar moet moeten gdzie czy где"
	placeWords = "variable file header setting column endpoint library algorithm manager service provider directory folder module package " +
		"table command function class section vault flag option parameter argument " +
		"length rules happen happens"
)
