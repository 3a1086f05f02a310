"""Names that are places, and names of tools that people move to as well; beside the parser's labels, which know neither well."""

from __future__ import annotations

from typing import Final

from lamina.language.entities import normalise_name
from lamina.language.wordsets import word_set

__all__ = ["is_place_name", "is_tool_name"]

_PLACES: Final = """
africa,america,asia,europe,scandinavia,latin america,south america,north america,the middle east,the caribbean,the balkans
afghanistan,albania,algeria,andorra,angola,argentina,armenia,australia,austria,azerbaijan,bahamas,bahrain,bangladesh,barbados,belarus,belgium,belize,benin,bolivia
bosnia,botswana,brazil,bulgaria,cambodia,cameroon,canada,chile,china,colombia,costa rica,croatia,cuba,cyprus,czechia,czech republic,denmark,dominican republic,ecuador
egypt,el salvador,england,estonia,ethiopia,fiji,finland,france,georgia,germany,ghana,gibraltar,great britain,greece,greenland,guatemala,guernsey,haiti,holland,honduras
hungary,iceland,india,indonesia,iran,iraq,ireland,isle of man,israel,italy,jamaica,japan,jersey,jordan,kazakhstan,kenya,kosovo,kuwait,laos,latvia,lebanon,liberia,libya,liechtenstein
lithuania,luxembourg,madagascar,malawi,malaysia,maldives,mali,malta,mauritius,mexico,moldova,monaco,mongolia,montenegro,morocco,mozambique,myanmar,namibia,nepal
netherlands,new zealand,nicaragua,nigeria,north macedonia,northern ireland,norway,oman,pakistan,palestine,panama,paraguay,peru,philippines,poland,portugal,puerto rico
qatar,romania,russia,rwanda,saudi arabia,scotland,senegal,serbia,singapore,slovakia,slovenia,somalia,south africa,south korea,spain,sri lanka,sudan,sweden,switzerland
syria,taiwan,tanzania,thailand,tunisia,turkey,türkiye,uganda,ukraine,united arab emirates,united kingdom,united states,uruguay,uk,us,usa,uae,venezuela,vietnam,wales,yemen,zambia,zimbabwe
aberdeen,bath,belfast,birmingham,blackpool,bolton,bournemouth,bradford,brighton,bristol,cambridge,canterbury,cardiff,carlisle,cheltenham,chester,chichester,colchester,coventry
croydon,derby,doncaster,dundee,durham,edinburgh,exeter,glasgow,gloucester,guildford,harrogate,hastings,hereford,huddersfield,hull,inverness,ipswich,kent,lancaster,leeds,leicester
lincoln,liverpool,london,luton,maidstone,manchester,middlesbrough,milton keynes,newcastle,newport,northampton,norwich,nottingham,oldham,oxford,perth,peterborough,plymouth
poole,portishead,portsmouth,preston,reading,rochdale,salford,salisbury,sheffield,shrewsbury,southampton,southend,st albans,stirling,stockport,stoke,sunderland,surrey,sussex,swansea
swindon,telford,truro,wakefield,warwick,watford,wells,winchester,windsor,wolverhampton,worcester,worthing,wrexham,york,yorkshire,cornwall,devon,dorset,essex,norfolk,suffolk,cumbria
cork,dublin,galway,limerick,waterford
alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,hawaii,idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan
minnesota,mississippi,missouri,montana,nebraska,nevada,new hampshire,new jersey,new mexico,new york,north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,rhode island
south carolina,south dakota,tennessee,texas,utah,vermont,virginia,washington,west virginia,wisconsin,wyoming
albuquerque,ann arbor,anchorage,atlanta,austin,baltimore,berkeley,boise,boston,boulder,brooklyn,buffalo,burlington,charleston,charlotte,chicago,cincinnati,cleveland,columbus,dallas,denver
des moines,detroit,el paso,fort worth,fresno,honolulu,houston,indianapolis,jacksonville,kansas city,las vegas,long beach,los angeles,louisville,madison,manhattan,memphis,miami
milwaukee,minneapolis,nashville,new orleans,new york city,nyc,la,sf,oakland,oklahoma city,omaha,orlando,palo alto,pasadena,philadelphia,phoenix,pittsburgh,portland,providence,queens,raleigh
richmond,sacramento,salt lake city,san antonio,san diego,san francisco,san jose,santa barbara,santa cruz,santa fe,santa monica,savannah,scottsdale,seattle,spokane,st louis
st paul,stanford,tampa,toledo,tucson,tulsa,washington dc,dc
calgary,edmonton,halifax,hamilton,montreal,montréal,ontario,ottawa,quebec,québec,toronto,vancouver,victoria,winnipeg,alberta,british columbia,nova scotia
adelaide,auckland,brisbane,canberra,christchurch,darwin,hobart,melbourne,queensland,sydney,tasmania,wellington
aarhus,alicante,amsterdam,antwerp,athens,baku,barcelona,basel,basle,belgrade,bergen,berlin,bern,berne,bielefeld,bilbao,bologna,bonn,bordeaux,bratislava,bremen,brno,bruges,brussels,bucharest,budapest
catania,cologne,copenhagen,cádiz,cadiz,dortmund,dresden,düsseldorf,dusseldorf,eindhoven,essen,faro,florence,frankfurt,freiburg,gdańsk,gdansk,geneva,genoa,genova,ghent,gothenburg,göteborg,granada,graz,grenoble
hamburg,hannover,hanover,heidelberg,helsinki,innsbruck,istanbul,izmir,kaunas,kharkiv,kiel,kiev,kyiv,kraków,krakow,köln,lausanne,leipzig,leuven,lille,linz,lisbon,lisboa,ljubljana,lucerne,lund,lviv,lyon,lyons
madrid,malaga,málaga,malmö,malmo,mannheim,marseille,marseilles,milan,milano,minsk,montpellier,moscow,munich,munster,münster,münchen,nantes,naples,napoli,nice,nicosia,nuremberg,nürnberg,odense,odessa,odesa,oporto,oslo
ostrava,oviedo,padua,palermo,palma,paris,pisa,porto,potsdam,poznań,poznan,prague,reims,rennes,reykjavik,riga,roma,rome,rotterdam,salamanca,salzburg,san sebastián,santander,sarajevo,seville,sevilla,skopje,sofia,split
st petersburg,stavanger,stockholm,strasbourg,stuttgart,tallinn,tampere,tbilisi,the hague,thessaloniki,tirana,torino,toulouse,trondheim,turin,turku,uppsala,utrecht,valencia,valletta
venice,verona,vienna,wien,vigo,vilnius,warsaw,warszawa,wrocław,wroclaw,yerevan,zagreb,zaragoza,zürich,zurich,sicily,sardinia,mallorca,ibiza,tenerife,crete,corfu,bavaria,catalonia,andalusia,provence,tuscany,normandy,brittany,algarve
abu dhabi,accra,addis ababa,ahmedabad,algiers,amman,ankara,bali,bangalore,bengaluru,bangkok,beijing,beirut,bogota,bogotá,brasilia,brasília,buenos aires,busan,cairo,cape town,caracas,casablanca,chengdu,chennai,colombo,dakar
damascus,delhi,new delhi,dhaka,doha,dubai,durban,goa,guangzhou,guadalajara,hanoi,havana,ho chi minh city,hong kong,hyderabad,islamabad,jakarta,jerusalem,johannesburg,kampala,karachi,kathmandu,kerala,kigali,kolkata,kuala lumpur
kyoto,lagos,lahore,lima,macau,manila,marrakech,marrakesh,medellín,medellin,mexico city,montevideo,mumbai,nairobi,osaka,oaxaca,phuket,pretoria,pune,quito,rabat,rio,rio de janeiro,riyadh,salvador,san juan,santiago,sao paulo,são paulo
seoul,shanghai,shenzhen,taipei,tehran,tel aviv,tokyo,tunis,ulaanbaatar,windhoek,yangon
"""
_TOOLS: Final = """
airtable,amplitude,android,angular,ansible,apple music,arch,argo,asana,atom,aws,azure,babel,basecamp,bash,bazel,bigquery,bitbucket,brave,bun,c++,c#,cassandra,celery,chatgpt,chrome,circleci,claude,clickhouse,clickup,clojure,cloudflare,cloudwatch
cmake,cockroachdb,codeberg,colab,confluence,copilot,crystal,css,cursor,cypress,dart,databricks,datadog,deezer,deno,digitalocean,discord,django,docker,dropbox,drupal,duckdb,dynamodb,eclipse,edge,elasticsearch,elixir,elm,emacs,erlang,esbuild,eslint,evernote
excel,express,fargate,fastapi,figma,firebase,firefox,flask,flutter,flux,fly.io,forgejo,gatsby,gcp,gemini,gerrit,ghost,git,gitea,github,gitlab,gmail,gnome,go,golang,gradle,grafana,graphql,grpc,hadoop,haskell,helm,heroku,hetzner,htmx,hubspot,hugo
intellij,intercom,ios,iphone,java,javascript,jekyll,jenkins,jest,jira,joomla,julia,jupyter,kafka,kde,keda,keycloak,kibana,kotlin,kubernetes,k8s,lambda,langchain,laravel,lightroom,linear,linux,loki,looker,lua,mac,macos,mailchimp,mariadb,markdown,mastodon,matlab
maven,mercurial,meteor,miro,mixpanel,mocha,monday.com,mongo,mongodb,monzo,mysql,neovim,netflix,netlify,next.js,nextcloud,nextjs,nginx,node,node.js,nomad,notion,npm,numpy,nuxt,obsidian,okta,opensearch,openshift,openai,oracle,outlook,pandas,perl,photoshop
php,pinterest,playwright,pnpm,podman,poetry,polars,postgres,postgresql,postman,powerpoint,prettier,prisma,prometheus,pulumi,puppet,pycharm,pytest,python,pytorch,qt,quickbooks,rabbitmq,rails,react,redis,redshift,revolut,ruby,ruff,rust,rustc,salesforce
sass,scala,selenium,sentry,shopify,signal,sketch,slack,snowflake,solr,spark,splunk,spotify,spring,sqlalchemy,sqlite,squarespace,stripe,sublime,supabase,svelte,svn,swift,tableau,tailwind,teams,telegram,temporal,tensorflow,terraform,thunderbird,tidal
todoist,tox,trello,twilio,typescript,ubuntu,unity,unreal,uv,vagrant,vault,vercel,vim,visual studio,vite,vitest,vs code,vscode,vue,webpack,whatsapp,windows,wix,wordpress,xcode,xero,yarn,youtube,zapier,zed,zendesk,zig,zoho,zoom,zsh,debian,fedora,nix,nixos
"""
_EDITIONS: Final = word_set(
    "actions cloud pages server enterprise code classic pro desktop mobile studio native flow hub lab ci db kit premium"
)
_MAKERS: Final = word_set("google microsoft apple amazon adobe atlassian")


def _names(text: str) -> frozenset[str]:
    return frozenset(
        normalise_name(name) for line in text.split("\n") for name in line.split(",") if name.strip()
    )


_KNOWN_PLACES: Final = _names(_PLACES)
_KNOWN_TOOLS: Final = _names(_TOOLS)


def is_place_name(name: str) -> bool:
    """Whether `name` is a country, region or city that many people live in. What is not listed may be a place as well."""
    return normalise_name(name) in _KNOWN_PLACES


def is_tool_name(name: str) -> bool:
    """Whether `name` is a program, language or service: "Postgres", "GitHub Actions", "Python 3.13", "Google Docs"."""
    key = normalise_name(name)
    first, _, rest = key.partition(" ")
    edition = rest[:1].isdigit() or rest in _EDITIONS
    return key in _KNOWN_TOOLS or (first in _KNOWN_TOOLS and edition) or (first in _MAKERS and rest != "")
