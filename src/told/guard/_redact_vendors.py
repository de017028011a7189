"""Names that stand before a secret of a service, and prefixes of what is no secret."""

from __future__ import annotations

# Services whose names are no ordinary words: a random word right behind one is likely a key for it.
_VENDORS_TEXT = """\
cerebras infisical netbird ollama perplexity pinecone planetscale qdrant railway replicate weaviate
abuseipdb adafruit adyen agora airbrake airtable aiven algolia alibaba aliyun alphavantage amplitude
anthropic apify appdynamics appveyor artifactory asana assemblyai auth0 aweber baremetrics binance bitbucket
bitfinex bitly bitmex bitrise bittrex blynk braintree braze brevo browserstack bugherd bugsnag buildkite
calendly censys chargebee chartmogul circleci clearbit clickhouse clicksend clickup cloudflare cloudinary
cloudsmith codacy codeclimate codecov cohere coinapi coinbase coinmarketcap confluent contentful convertkit
coveralls crowdin crowdstrike customerio databricks datadog datocms deepgram deepseek dialogflow
digitalocean dingtalk discord docusign droneci dropbox dwolla dynatrace easypost elevenlabs etherscan
eventbrite facebook fastly feishu finicity finnhub firebase flickr flutterwave foursquare freshbooks
freshdesk giphy gitter gocardless grafana helpscout heroku hetzner honeycomb hubspot hypixel ibm imgur
infobip infura instagram intercom ipinfo ipstack jfrog jira jumpcloud kakao klaviyo kraken kucoin larksuite
lastfm launchdarkly linkedin linode livechat logdna loggly logzio mailchimp mailgun mailjet mailmodo
mandrill mapbox mapquest mattermost meraki messagebird microstack miro mistral mixpanel moralis naver
netlify newrelic nexmo ngrok nytimes okta omise onelogin onesignal openai opencage openweather opsgenie
optimizely pagerduty paypal paystack pingdom pipedrive pivotaltracker plaid plivo posthog postmark prismic
pubnub pusher qiniu qubole quickbase rapidapi raygun razorpay recaptcha recurly redislabs ringcentral
rollbar salesforce saucelabs scaleway scalyr sendbird sendgrid sendinblue sentry serpapi shippo shodan
shopify sinch skyscanner smartsheet smartystreets snowflake snyk sonar sonarcloud sonarqube sourcegraph
sparkpost splunk spoonacular spotify squarespace statuscake storyblok strava stripe sumologic supabase
surveymonkey tatum telegram telnyx tencent ticketmaster tmdb todoist tomtom trello twilio twitch twitter
typeform unsplash uploadcare uptimerobot urlscan vercel virustotal vonage vultr wakatime walkscore wandb
weatherapi weatherbit webex webflow wepay wistia wrike yandex zendesk zeplin zerobounce zillow zipcodeapi
zoho
"""
VENDORS = frozenset(_VENDORS_TEXT.split())

# Beginnings of ids: a random word behind one names something, and opens nothing.
_IDS_TEXT = """\
toolu tool call msg message req request chatcmpl cmpl resp response rs fc item run thread file asst evt
event step batch ftjob ft vs conv conversation srvtoolu mcptoolu mcp container skill wrkspc workspace user
usr org acct account cus pi ch prod price sub in pm seti txn po card src plan si il cn dp ii tr py session
ses sess prt part task job trace span id uid uuid agent project proj prj team app application dep dpl
deployment build node pod image img sha sha1 sha256 sha512 md5 hash h1 commit rev ref etag chunk index
vendor main page layout css style styles font icon asset assets static bundle module test tests tmp temp
cache lock log dump backup snapshot snap vol volume ami vpc subnet sg eni igw rtb eipalloc lt nat acl arn
cluster service svc db rds i r g c ob tool_use use rec recs viw tbl fld doc docs note ctx cm ck cl cu
rollout parent child group grp channel chan conn connection client device instance inst model mdl vm net
network host pkg package version ver branch tag pull pr issue wf workflow action stage pipeline queue topic
stream key_id keyid kid checkpoint cp aws attachment dt jr
"""
IDS = frozenset(_IDS_TEXT.split())

# What a name says of its value, word by word.
_ANNOUNCING_TEXT = """\
secret token password passwd passphrase passcode pwd pass pw credential credentials cred creds bearer apikey
authtoken jwt accesskey secretkey privatekey hapikey skey appsecret clientsecret apisecret apitoken
accesstoken psk passkey authkey oauth totp salt license licence serial
"""
SECRET_WORDS = frozenset(_ANNOUNCING_TEXT.split())
_KEY_WORDS_TEXT = """\
api access auth authorization private shared signing sign licence license encryption master admin app
application account service consumer client subscription functions function write transaction secret rest
server deploy webhook storage ssh rsa session cookie encrypt crypto hmac salt base integration project user
hec ingest ingestion tracking
"""
KEY_WORDS = frozenset(_KEY_WORDS_TEXT.split())
_QUALIFIERS_TEXT = """\
key keys login id channel token secret bearer bot team org public app cloud
"""
QUALIFIERS = KEY_WORDS | frozenset(_QUALIFIERS_TEXT.split())
_FILLERS_TEXT = """\
is are was the a my your our for this as to be here new with value string str header x
"""
FILLERS = frozenset(_FILLERS_TEXT.split())
_PLAIN_WORDS_TEXT = """\
sha sha1 sha256 sha512 commit commits hash hashes digest checksum etag fingerprint integrity md5 rev
revision uuid guid cursor nonce trace request version public page next continuation cache cached blob tree
parent object idempotency id ids resolved file path bucket image docker name names signature tokenizer
tokens tokenize merkle block address contract tx count limit length size type url uri prefix suffix expires
expiry ttl foreign primary sort partition publishable pub csrf index socket starting change lock
confirmation pagination
"""
PLAIN_WORDS = frozenset(_PLAIN_WORDS_TEXT.split())
