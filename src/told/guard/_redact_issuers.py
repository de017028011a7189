"""How the tokens of known issuers begin, and what they go on with."""

from __future__ import annotations

# What a token is made of, and characters to make up an example from.
ALPHABETS = {
    "a": ("[A-Za-z0-9]", "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6gH0iJk"),
    "w": ("[A-Za-z0-9_-]", "k3J9sQ0v-Wx7LmN2pR5t_Y8uB1cD4eF6gH0iJk"),
    "d": ("[A-Za-z0-9_.-]", "k3J9sQ0vWx7LmN2pR5tY8uB1.cD4eF6gH0iJk"),
    "b": ("[A-Za-z0-9_+/=-]", "k3J9sQ0vWx7LmN2pR5tY8uB1cD4eF6+H0i/k"),
    "u": ("[A-Z0-9]", "K3J9SQ0VWX7LMN2PR5TY8UB1CD4EF6GH0JK"),
    "l": ("[a-z0-9]", "k3j9sq0vwx7lmn2pr5ty8ub1cd4ef6gh0jk"),
    "h": ("[0-9a-fA-F]", "4f2a9c8e1b7d3f6a0c5e"),
    "i": ("[0-9a-fA-F-]", "4f2a9c8e-1b7d-4f6a-8c5e-4f2a9c8e1b7d"),
}

# The kind of secret, what follows the beginning, at least and at most how much of it, how it may begin.
# After the alphabet, "?" says that ordinary names begin like this as well, "!" that nothing else does, and
# "~" that data in base 64 may have it inside.
ISSUERS = """\
github-token a 16 255 ghp_ gho_ ghu_ ghs_ ghr_
github-token w 20 255 github_pat_
gitlab-token d 16 300 glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat-
gitlab-token d 16 300 glffct- glwt-
gitlab-token w 16 64 GR1348941
anthropic-key w 20 300 sk-ant-
openai-key w? 19 300 sk-proj- sk-svcacct- sk-service- sk-admin- sk-None- sess- sk-
google-key w 30 60 AIza
google-token w 20 400 ya29.
google-secret w 20 60 GOCSPX-
google-key u 20 60 GOOG1E GOOG
firebase-key w 100 200 APA91b
slack-token w 14 400 xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxw- xapp- xwfp-
slack-token w 14 400 xoxe.xoxp- xoxe.xoxb-
stripe-key a 10 255 sk_live_ sk_test_ sk_prod_ sk_sandbox_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_prod_
stripe-key b 20 255 whsec_ whsk_ testsk_
brevo-key w 30 120 xkeysib- xsmtpsib-
npm-token a 30 64 npm_
pypi-token w 40 600 pypi-A
huggingface-token a 30 40 hf_ api_org_
twilio-key h 32 32 SK
aws-key-id u! 16 16 AKIA ASIA ABIA ACCA
aws-bedrock-key b 60 2000 ABSK bedrock-api-key-
aws-token b 80 4000 IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz
aws-key i 36 36 amzn.mws.
aws-key h 64 64 amzn1.oa2-cs.v1.
aws-key l 26 26 da2-
digitalocean-token h 32 64 dop_v1_ doo_v1_ dor_v1_ sk-do-
digitalocean-key u 16 18 DO00
shopify-token h 32 32 shpat_ shpca_ shppa_ shpss_ shptka_ shpua_
shopify-token a 30 80 shpcs_ prtapi_
square-token w 22 80 sq0atp- sq0csp- sq0idp-
square-token w~ 56 62 EAAA
databricks-token i 32 34 dapi dkea
doppler-token d 30 80 dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.
dynatrace-token d 40 120 dt0c01. dt0s01. dt0s02. dt0s03. dt0s04. dt0s06. dt0s08. dt0s16.
grafana-token b 30 400 glc_ glsa_ eyJrIjoi
vault-token w 20 300 hvs. hvb. hvr.
linear-key a 32 80 lin_api_ lin_oauth_ lin_wh_
mailgun-key h? 32 32 key- pubkey-
newrelic-key w 16 64 NRAK- NRII- NRJS- NRIQ- NRRA- NRSP- NRBR- NRAA-
notion-token a 40 60 ntn_
planetscale-token b 20 80 pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_api_ pscale_app_secret_ pscale_ot_
postman-key w 50 64 PMAK- PMAT-
prefect-key a 30 64 pnu_ pnb_
pulumi-token h 40 40 pul-
readme-key a 50 80 rdme_
rubygems-key h 48 48 rubygems_
sentry-token b 40 600 sntrys_ sntryu_ sntryi_ sntrya_
settlemint-token a 16 40 sm_aat_ sm_pat_ sm_sat_
shippo-token h 40 40 shippo_live_ shippo_test_
sourcegraph-token h 40 64 sgp_ sgp_local_ slk_ sgd_ sgs_ sgm_ sg_gw_ sgph_
onepassword-token b 60 2000 ops_eyJ
age-key u! 50 64 AGE-SECRET-KEY-1 AGE-PLUGIN-
alibaba-key a 14 24 LTAI
adobe-secret w 30 40 p8e-
artifactory-key a 56 80 AKCp cmVmd
atlassian-token b 60 300 ATATT3 ATCTT3
atlassian-token w 20 80 ATBB ATTA ATOA
clojars-token a 40 64 CLOJARS_
duffel-token b 40 60 duffel_test_ duffel_live_
easypost-key a 50 60 EZAK EZTK
facebook-token a~ 60 400 EAAC EAAM EAAB EAAG EAAD EAAE EAAF EAAI EAAJ EAAK EAAL EAAN EAAP EAAR EAAT EAAU
facebook-token a~ 60 400 EAAV EAAW EAAX EAAY EAAZ
instagram-token a 60 300 IGQV IGQW IGAA
flutterwave-key h 12 32 FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- FLWPUBK- FLWSECK_TEST
fly-token b 40 1200 fo1_ fm1a_ fm1r_ fm2_
frameio-token b 60 80 fio-u-
payment-key w? 30 64 live_ sandbox_
payment-key a? 30 64 test_
heroku-key w 36 80 HRKU-
infracost-key a 32 32 ico-
intra42-secret h 64 64 s-s4t2ud- s-s4t2af-
octopus-key u 25 30 API-
perplexity-key a 40 64 pplx-
scalingo-token w 40 64 tk-us-
typeform-token d 40 80 tfp_
yandex-key w 35 38 AQVN
yandex-key w 36 42 YCAJE ajes_
groq-key a 30 80 gsk_
replicate-token a 30 60 r8_
xai-key a 40 120 xai-
supabase-token w 20 80 sbp_ sb_secret_ sbp_oauth_
tailscale-key w 16 100 tskey-
docker-token w 20 64 dckr_pat_ dckr_oat_
figma-token w 30 80 figd_ figo_ figu_ figoh_ figor_
langsmith-key w 32 64 lsv2_pt_ lsv2_sk_ ls__
langfuse-key i 36 36 sk-lf- pk-lf-
pinecone-key w 30 100 pcsk_
nvidia-key w 40 100 nvapi-
posthog-key a 30 60 phx_ phc_ phs_ pha_ phr_
contentful-token w 40 60 CFPAT-
circleci-token w 30 90 CCIPAT_ CCIPRJ_ CCIRUN_
buildkite-token a 30 70 bkua_ bkat_ bkaj_ bkpt_ bkct_ bkpat_
encoded-token b? 80 4000 ZXlK
mailersend-token h 32 80 mlsn.
cerebras-key l 30 80 csk-
wandb-key w 40 100 wandb_v1_
tavily-key w 20 60 tvly-
jina-key a 40 80 jina_
e2b-key h 32 48 e2b_ sk_e2b_
browserbase-key w 20 50 bb_live_ bb_test_
llamacloud-key a 36 60 llx-
runpod-key u 30 60 rpa_
anyscale-key a 20 60 esecret_ aph0_
friendli-token a 30 60 flp_ fip_
baidu-key b 16 80 ALTAK-
helicone-key w 20 60 sk-helicone- pk-helicone-
openrouter-key h 40 80 sk-or-v1-
snyk-token d 30 120 snyk_uat. snyk_sat.
sonar-token h 40 40 sqp_ squ_ sqa_ sqb_
chromatic-token h 14 40 chpt_ chpa_
vercel-token w 20 80 vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_
netlify-token w 30 60 nfp_ nfc_ nfu_ nfo_ nfb_
render-key a 24 60 rnd_
cloudflare-key w 80 200 v1.0-
cloudflare-token w 36 60 cfut_ cfat_ cfk_
upcloud-token w 24 60 ucat_ ucs_
tencent-key a 32 34 AKID
packagist-token h 60 90 packagist_ort_ packagist_uut_ packagist_oat_
honeycomb-key l 40 70 hcaik_ hcaic_ hcxik_ hcxmk_ hcamk_
axiom-token i 36 36 xaat- xapt-
mongodb-key w 30 60 mdb_sa_sk_ mdb_sa_id_
neon-key l 40 80 napi_
cockroach-key w 40 90 CCDB1_
aiven-password w 16 40 AVNS_ aivenv1
xata-key a 30 60 xau_
elastic-key b 40 200 essu_ essp_ essa_
dbt-token w 30 60 dbtc_ dbts_ dbtu_ dbtp_
razorpay-key a 14 24 rzp_live_ rzp_test_
plaid-token i 36 36 access-sandbox- access-production- access-development-
plaid-token i 36 36 link-sandbox- link-production-
paddle-key w 40 80 pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_
mercadopago-token i 40 90 APP_USR- TEST-
xendit-key a 30 90 xnd_production_ xnd_development_ xnd_public_production_
persona-key i 36 36 persona_production_ persona_sandbox_
bitcoin-key a 100 112 xprv tprv yprv zprv
hubspot-token i 36 36 pat-na1- pat-eu1- pat-na2- pat-ap1- pat-na3-
intercom-token b 40 80 dG9rOj
wix-key d 200 2000 IST.eyJ
stytch-secret w 30 60 secret-live- secret-test-
retool-token a 24 40 retool_ retool_wh_
kong-token a 40 60 kpat_ spat_
gitbook-token a 36 50 gb_api_
adafruit-key a 28 32 aio_
samsara-token a 28 40 samsara_api_
pubnub-key w 36 50 sub-c- pub-c- sec-c-
onesignal-key l 90 120 os_v2_app_ os_v2_org_
ory-token d 30 120 ory_at_ ory_rt_ ory_pat_ ory_apikey_ ory_wak_ ory_wat_ ory_st_
trigger-key w 20 40 tr_dev_ tr_prod_ tr_stg_ tr_preview_ tr_pat_
inngest-key h 40 70 signkey-prod- signkey-test- signkey-branch-
qstash-token a 30 60 qstash_
zuplo-key w 30 60 zpka_
apify-token a 30 50 apify_api_ apify_proxy_
nylas-key w 40 70 nyl_v0_ nyk_v0_
fernet-token w 70 4000 gAAAAA
riot-key i 36 36 RGAPI-
teamcity-token b 60 2000 eyJ0eXAiOiAiVENWMiJ9.
confluent-key b 50 80 cflt
clickhouse-key a 38 42 4b1d
netbird-token a 30 50 nbp_ nbs_
tolgee-key l 40 80 tgpak_ tgpat_
courier-key u 26 32 dk_prod_ pk_test_
clerk-key a 30 60 ak_live_ mch_live_
mintlify-key a 20 60 mint_ mint_dsc_
lightspeed-token w 30 80 lsxs_pt_ lsxs_at_
discord-token w 80 90 mfa.
onfido-token d 30 60 api_live. api_sandbox. api_live_ca. api_live_us.
lob-key h 32 40 live_pub_ test_pub_
deno-token a 30 50 ddp_ ddw_ ddo_
depot-token a 30 80 depot_project_ depot_org_ depot_user_
polar-token w 30 60 polar_oat_ polar_pat_ polar_whs_ polar_at_ polar_rt_
val-token w 30 60 vtwn_
liveblocks-key w 30 90 sk_dev_
cartesia-key w 20 60 sk_car_
chroma-key a 40 60 ck-
relace-key w 20 60 rlc-
"""
